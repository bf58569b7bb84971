//go:build e2e

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// killShadow is how long after a kill a call may fail: the killed process's refreshes hold their leases for half a minute.
const killShadow = 45 * time.Second

// rebindTime is how long after a change of a grant a replica may act by the one before: it caches grants until it is notified.
const rebindTime = 5 * time.Second

func (s *accountSoak) addFault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// reportFaults fails the test for each fault, up to twenty.
func (s *accountSoak) reportFaults() {
	s.t.Helper()
	for i, fault := range s.faults {
		if i == 20 {
			s.t.Errorf("and %d more", len(s.faults)-i)
			return
		}
		s.t.Error(fault)
	}
}

// judgeCall records a call. An answer must be of an account that was bound at the time, and a failure needs an excuse.
func (s *accountSoak) judgeCall(c *soakCall) {
	bound := c.bound(c.from, c.to)
	switch {
	case c.failure != nil:
		if c.excuse = s.findExcuse(c, len(bound)); c.excuse == "" {
			s.addFault("call %d (%s, %s at %s) failed: %.600v", c.n, c.kind, c.agent.slug, c.binding.connector.slug, c.failure)
		}
	case !slices.Contains(bound, c.echoed) && slices.Contains(c.bound(c.from.Add(-rebindTime), c.to), c.echoed):
		s.late.Add(1)
	case !slices.Contains(bound, c.echoed):
		s.addFault("call %d (%s, %s at %s) used %s, bound: %v", c.n, c.kind, c.agent.slug, c.binding.connector.slug, c.echoed, bound)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

func (s *accountSoak) findExcuse(c *soakCall, bound int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	inShadow := false
	for i, r := range s.replicas {
		for _, at := range r.killed {
			if i == c.replica && errors.Is(c.failure, errCut) && !at.After(c.to) && !at.Before(c.from.Add(-time.Second)) {
				return "its replica was killed"
			}
			inShadow = inShadow || !at.After(c.to) && at.After(c.to.Add(-killShadow))
		}
	}
	switch {
	case errors.Is(c.failure, context.DeadlineExceeded) && inShadow:
		return "no answer in time, after a kill"
	case errors.Is(c.failure, errCut):
		return ""
	case bound == 0 && strings.Contains(c.failure.Error(), "needs_authorization"):
		return "its grant binds none of several accounts"
	case bound > 1, len(c.bound(c.from.Add(-rebindTime), c.to)) > 1:
		return "its grant was changed"
	case inShadow:
		return "after a kill"
	}
	return ""
}

// reportCalls logs the figures, and requires that all kinds of events took place.
func (s *accountSoak) reportCalls(took time.Duration) {
	s.t.Helper()
	answered, excused := map[string]int{}, map[string]int{}
	kills, ofSeveral := 0, 0
	for _, r := range s.replicas {
		kills += len(r.killed)
		if len(r.killed) == 0 {
			s.t.Error("a replica was not killed")
		}
	}
	for _, c := range s.calls {
		if c.echoed != "" {
			answered[c.kind]++
			ofSeveral += min(len(c.binding.several), 1)
		} else {
			excused[c.excuse]++
		}
	}
	s.t.Logf("%d calls answered in %s (%v), %d of them with grants of several accounts, %d kills, %d refreshes, %d of them cut off by a kill, %d rebinds, %d calls by the account bound just before one, %d approvals; not answered: %v; %d tokens refused, %d refreshes refused",
		s.answered.Load(), took.Round(time.Second), answered, ofSeveral, kills, s.echo.counted("refresh_token"), s.echo.counted("cut off refreshes"),
		s.rebinds.Load(), s.late.Load(), s.approved.Load(), excused, s.echo.counted("refused tokens"), s.echo.counted("refused refreshes"))
	for _, kind := range []string{"approval", "task", "prompt", "resource", "tool in a session", "tool"} {
		if answered[kind] == 0 {
			s.t.Errorf("no call of the kind %q was answered", kind)
		}
	}
	if ofSeveral == 0 {
		s.t.Error("no call with a grant of several accounts was answered")
	}
	if s.rebinds.Load() == 0 || excused["its grant binds none of several accounts"] == 0 || s.echo.counted("cut off refreshes") == 0 {
		s.t.Error("no grant was changed, no call without an account was refused, or no refresh was cut off")
	}
	if n := s.echo.counted("refused refreshes"); n > 0 {
		s.t.Errorf("%d refreshes with a token that was replaced", n)
	}
}

// checkSightings judges what the server has seen, also of calls without an answer, which it may have served later.
func (s *accountSoak) checkSightings() {
	s.t.Helper()
	seen, wrong := s.echo.sightings()
	for _, sentence := range wrong {
		s.addFault("%s", sentence)
	}
	for _, c := range s.calls {
		until := c.to
		if c.echoed == "" {
			until = time.Now()
		}
		for _, subject := range seen[c.n] {
			if bound := c.bound(c.from.Add(-rebindTime), until); !slices.Contains(bound, subject) {
				s.addFault("call %d (%s of %s) was seen of %s, bound: %v", c.n, c.kind, c.agent.slug, subject, bound)
			}
		}
		if c.echoed != "" && !slices.Contains(seen[c.n], c.echoed) {
			s.addFault("call %d was answered as %s, and not seen", c.n, c.echoed)
		}
	}
}

// subjectsByAccount are the subjects of the stored accounts, by the accounts' ids.
func (s *accountSoak) subjectsByAccount() map[string]string {
	s.t.Helper()
	subjects := map[string]string{}
	for _, row := range s.owner.column(`select concat_ws(' ', credentials.id, concat_ws('-', connectors.slug, agents.slug, credentials.name))
		from credentials
		join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
		left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id`) {
		id, subject, _ := strings.Cut(row, " ")
		subjects[id] = subject
	}
	return subjects
}

// history reads the call history by the API: the rows by the number of their call.
func (s *accountSoak) history() map[int]object {
	s.t.Helper()
	rows := map[int]object{}
	for path := "/api/v1/tool_calls?limit=200"; path != ""; {
		page := s.c.must(http.StatusOK, http.MethodGet, path, nil)
		items, _ := page["items"].([]any)
		for _, item := range items {
			row, _ := item.(object)
			var n int
			if _, err := fmt.Sscanf(fmt.Sprint(row["request_id"]), "call-%d", &n); err != nil {
				s.addFault("a row of no call: %v", row)
			}
			if rows[n] != nil {
				s.addFault("two rows of call %d: %v %v", n, rows[n]["id"], row["id"])
			}
			rows[n] = row
		}
		path = ""
		if cursor, more := page["next_cursor"].(string); more {
			path = "/api/v1/tool_calls?limit=200&cursor=" + cursor
		}
	}
	return rows
}

// checkHistory waits until the calls of killed processes are ended, besides tasks that no client polls any more, and holds the
// accounts of the rows against those that the server has seen.
func (s *accountSoak) checkHistory() {
	s.t.Helper()
	eventually(s.t, func() error {
		open := s.owner.column("select concat_ws(' ', id, tool, source, approved_by, started_at) from tool_calls where status = 'running' and task_handle is null")
		if len(open) > 0 {
			return fmt.Errorf("calls still run: %v", open)
		}
		return nil
	})
	rows, subjects := s.history(), s.subjectsByAccount()
	seen, _ := s.echo.sightings()
	states := map[string]int{}
	for _, c := range s.calls {
		row := rows[c.n]
		subject := subjects[fmt.Sprint(row["credential_id"])]
		switch {
		case row == nil && c.echoed != "":
			s.addFault("call %d (%s) was answered and has no row; its replica was killed at %v, it ended at %v", c.n, c.kind, s.replicas[c.replica].killed, c.to)
		case row == nil:
			states["none, and not answered"]++
		case subject == "" && row["outcome"] == "lost": // stored before its account was known, and closed by another process
			states["without an account, of a process that was killed"]++
		case c.echoed != "" && subject != c.echoed:
			s.addFault("call %d (%s, %v, %v): its row has the account %q, and the server saw %s", c.n, c.kind, row["status"], row["outcome"], subject, c.echoed)
		case subject == "" && len(seen[c.n]) > 0:
			s.addFault("call %d (%s, %v, %v) was seen of %v and its row has no account", c.n, c.kind, row["status"], row["outcome"], seen[c.n])
		case subject != "" && len(seen[c.n]) > 0 && !slices.Contains(seen[c.n], subject):
			s.addFault("call %d (%s): its row has the account %s, and the server saw %v", c.n, c.kind, subject, seen[c.n])
		case c.echoed != "":
			states["with the account of the answer"]++
		default:
			states["of calls without an answer"]++
		}
	}
	s.t.Logf("%d rows of history: %v", len(rows), states)
	for _, n := range slices.Sorted(maps.Keys(rows))[:min(25, len(rows))] {
		row := s.c.must(http.StatusOK, http.MethodGet, "/api/v1/tool_calls/"+fmt.Sprint(rows[n]["id"]), nil)
		if subject := subjects[fmt.Sprint(row["credential_id"])]; subject != "" && !strings.Contains(fmt.Sprint(row["account"]), subject[strings.LastIndex(subject, "-")+1:]) {
			s.addFault("the row of call %d does not show the account %s: %v", n, subject, row["account"])
		}
	}
}

// checkApprovals holds the accounts that were approved against those of the calls' rows.
func (s *accountSoak) checkApprovals() {
	s.t.Helper()
	without := s.owner.column("select id::text from approvals where account_id is null")
	differ := s.owner.column(`select approvals.id::text from approvals
		join tool_calls on tool_calls.tenant_id = approvals.tenant_id and tool_calls.id = approvals.id
		where approvals.account_id is distinct from tool_calls.credential_id and tool_calls.credential_id is not null`)
	unknown := s.owner.column(`select approvals.id::text from approvals
		where not exists (select from credentials where credentials.tenant_id = approvals.tenant_id and credentials.id = approvals.account_id)`)
	all := s.owner.column("select state || ' ' || count(*) from approvals group by state order by state")
	s.t.Logf("approvals: %v", all)
	if len(without)+len(differ)+len(unknown) > 0 || len(all) == 0 {
		s.addFault("approvals without an account: %d, with another one than their call: %d, with an unknown one: %d", len(without), len(differ), len(unknown))
	}
}

// checkLogs looks for panics and errors of the replicas that still run.
func (s *accountSoak) checkLogs() {
	for _, r := range s.replicas {
		for line := range strings.Lines(r.stderr.text()) {
			if strings.Contains(line, "panic") || strings.Contains(line, `"level":"ERROR"`) {
				s.addFault("%.1000s", line)
			}
		}
	}
}
