package churn

import (
	"testing"
	"time"
)

// What agents may see during and after a grant.
func TestJudge(t *testing.T) {
	t.Parallel()
	const other, name = "mcp_s7-1__base", "mcp_s0-1__base"
	for name, tc := range map[string]struct {
		during bool
		seen   map[string]string
		delay  time.Duration
		wrong  bool
	}{
		"during the act, before it took effect": {during: true, seen: nil},
		"during the act, with its effect":       {during: true, seen: map[string]string{name: "0"}},
		"after the act, with its effect":        {seen: map[string]string{name: "0"}},
		"after the act, without its effect":     {seen: nil, wrong: true},
		"after the act, within the delay":       {seen: nil, delay: time.Hour},
		"another version":                       {seen: map[string]string{name: "1"}, wrong: true},
		"a tool that was not granted":           {seen: map[string]string{name: "0", "mcp_s0-1__steady": "0"}, wrong: true},
		"a tool of no connector":                {seen: map[string]string{name: "0", other: "0"}, wrong: true},
	} {
		l := &Load{Options: Options{Delay: tc.delay}, servers: newServers(), report: Report{Wrong: map[string]int{}}}
		t.Cleanup(l.servers.close)
		a, s := &loadAgent{Load: l}, l.newSlot()
		before := connectorState{exists: true, enabled: true, slug: "s0-1", tools: map[string]tool{base: {"0", "0"}, "steady": {"0", "0"}}, grants: map[int]map[string]bool{}}
		s.beginAction(before)
		s.endAction()
		after := before.clone()
		after.grants[0] = map[string]bool{base: true}
		start := time.Now()
		s.beginAction(after)
		if !tc.during {
			s.endAction()
			start = time.Now().Add(time.Nanosecond)
		}
		a.judgeList(tc.seen, start, time.Now().Add(time.Second))
		if wrong := l.report.Wrong[WrongList] > 0; wrong != tc.wrong {
			t.Errorf("%s: judged wrong is %t, want %t: %v", name, wrong, tc.wrong, l.report.Faults)
		}
	}
}
