package churn

import (
	"testing"
	"time"
)

// newTestLoad is a load without a Patchbay.
func newTestLoad(t *testing.T, o Options) *Load {
	t.Helper()
	l := &Load{Options: o, servers: newServers(), report: newReport()}
	t.Cleanup(l.servers.close)
	return l
}

// granted is a connector with a tool that is granted to agent 0, and one that is not.
func granted() connectorState {
	return connectorState{
		exists: true, enabled: true, slug: "s0-1", tools: map[string]tool{base: {"0", "0"}, "steady": {"0", "0"}},
		items: []map[string]string{{base: "0"}}, grants: map[int]toolGrant{0: {tools: map[string]bool{base: true}}},
	}
}

// runGrant journals a grant, and returns when an agent requested a list.
func runGrant(s *slot, during bool) interval {
	before := granted()
	before.grants = nil
	s.beginAction(before)
	s.endAction()
	in := interval{start: time.Now(), end: time.Now().Add(time.Second)}
	s.beginAction(granted())
	if !during {
		s.endAction()
		in.start = time.Now().Add(time.Nanosecond)
	}
	return in
}

// What agents may see during and after a grant.
func TestJudgeList(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		list   listKind
		during bool
		seen   map[string]string
		delay  time.Duration
		wrong  bool
	}{
		"during the act, before it took effect": {list: toolList, during: true},
		"during the act, with its effect":       {list: toolList, during: true, seen: map[string]string{"mcp_s0-1__base": "0"}},
		"after the act, with its effect":        {list: toolList, seen: map[string]string{"mcp_s0-1__base": "0"}},
		"after the act, without its effect":     {list: toolList, wrong: true},
		"after the act, within the delay":       {list: toolList, delay: time.Hour},
		"another version":                       {list: toolList, seen: map[string]string{"mcp_s0-1__base": "1"}, wrong: true},
		"a tool that was not granted":           {list: toolList, seen: map[string]string{"mcp_s0-1__base": "0", "mcp_s0-1__steady": "0"}, wrong: true},
		"a tool of no connector":                {list: toolList, seen: map[string]string{"mcp_s0-1__base": "0", "mcp_s7-1__base": "0"}, wrong: true},
		"the prompt":                            {list: promptList, seen: map[string]string{"mcp_s0-1__base": "0"}},
		"no prompt":                             {list: promptList, wrong: true},
		"the resource":                          {list: resourceList, seen: map[string]string{"patchbay+s0-1:churn:///base": "0"}},
		"a resource of an earlier version":      {list: resourceList, seen: map[string]string{"patchbay+s0-1:churn:///base": "9"}, wrong: true},
		"a resource under its own URI":          {list: resourceList, seen: map[string]string{"churn:///base": "0"}, wrong: true},
		"the template":                          {list: templateList, seen: map[string]string{"patchbay+s0-1:churn:///base/{n}": "0"}},
		"no template":                           {list: templateList, wrong: true},
	} {
		l := newTestLoad(t, Options{Delay: tc.delay})
		a := &loadAgent{Load: l}
		in := runGrant(l.newSlot(), tc.during)
		a.judgeList(tc.list, tc.seen, in)
		if wrong := l.report.Wrong[WrongList] > 0; wrong != tc.wrong {
			t.Errorf("%s: judged wrong is %t, want %t: %v", name, wrong, tc.wrong, l.report.Faults)
		}
	}
}

// What agents may see at a connector's own address during and after a grant.
func TestJudgeOwnList(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		list   listKind
		during bool
		got    ownList
		wrong  bool
	}{
		"during the act, refused":       {list: toolList, during: true, got: ownList{slug: "s0-1", refused: true}},
		"during the act, with the tool": {list: toolList, during: true, got: ownList{slug: "s0-1", seen: map[string]string{base: "0"}}},
		"during the act, without tools": {list: toolList, during: true, got: ownList{slug: "s0-1"}, wrong: true},
		"after the act, with the tool":  {list: toolList, got: ownList{slug: "s0-1", seen: map[string]string{base: "0"}}},
		"after the act, refused":        {list: toolList, got: ownList{slug: "s0-1", refused: true}, wrong: true},
		"a tool that was not granted":   {list: toolList, got: ownList{slug: "s0-1", seen: map[string]string{base: "0", "steady": "0"}}, wrong: true},
		"under its exposed name":        {list: toolList, got: ownList{slug: "s0-1", seen: map[string]string{"mcp_s0-1__base": "0"}}, wrong: true},
		"an earlier slug, refused":      {list: toolList, got: ownList{slug: "s0-0", refused: true}},
		"an earlier slug, with a list":  {list: toolList, got: ownList{slug: "s0-0", seen: map[string]string{base: "0"}}, wrong: true},
		"the prompt":                    {list: promptList, got: ownList{slug: "s0-1", seen: map[string]string{base: "0"}}},
		"no prompt":                     {list: promptList, got: ownList{slug: "s0-1"}, wrong: true},
		"the resource":                  {list: resourceList, got: ownList{slug: "s0-1", seen: map[string]string{"churn:///base": "0"}}},
		"the template":                  {list: templateList, got: ownList{slug: "s0-1", seen: map[string]string{"churn:///base/{n}": "0"}}},
	} {
		l := newTestLoad(t, Options{})
		a, s := &loadAgent{Load: l}, l.newSlot()
		in := runGrant(s, tc.during)
		a.judgeOwnList(tc.list, s, tc.got, in)
		if wrong := l.report.Wrong[WrongList] > 0; wrong != tc.wrong {
			t.Errorf("%s: judged wrong is %t, want %t: %v", name, wrong, tc.wrong, l.report.Faults)
		}
	}
}

// A server's list is read as it was written.
func TestListKind_ReadsItsOwnResult(t *testing.T) {
	t.Parallel()
	for _, k := range allLists {
		seen, repeated, ok := k.readResult([]byte(k.newResult(map[string]string{base: "7"})))
		if !ok || repeated != nil || len(seen) != 1 || seen[k.ownKey(base)] != "7" {
			t.Errorf("%s: %v, repeated %v, read %t", k.method, seen, repeated, ok)
		}
		if s := newSlot(12); k.slotName(k.exposedKey(s.name+"3", base)) != s.name {
			t.Errorf("%s: %s is of slot %s", k.method, k.exposedKey(s.name+"3", base), k.slotName(k.exposedKey(s.name+"3", base)))
		}
	}
}

// A new grant of named tools leaves prompts and resources out. A grant that is there keeps its choice.
func TestGrantTools_KeepsTheChoiceOfAGrant(t *testing.T) {
	t.Parallel()
	named := map[string]bool{base: true}
	s := connectorState{grants: map[int]toolGrant{}}
	for i, step := range []struct {
		agent     int
		tools     map[string]bool
		leavesOut bool
	}{{0, nil, false}, {0, named, false}, {1, named, true}, {1, nil, true}} {
		s.grants = s.grantTools(step.agent, step.tools)
		if got := s.grants[step.agent]; got.leavesOutRest != step.leavesOut || len(got.tools) != len(step.tools) {
			t.Errorf("step %d: %+v", i, got)
		}
	}
}
