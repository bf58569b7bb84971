package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func outcomes(t *testing.T, w *fixture.World) store.OutcomeCheck {
	t.Helper()
	check, err := w.Door().Audit().CheckOutcomes(t.Context(), nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return check
}

// endCalls ends n calls of the tenant's, in batches of two.
func endCalls(t *testing.T, w *fixture.World, n int) []store.OwnedCall {
	t.Helper()
	calls := batchOf(t, w, 1, n)
	for i := range calls {
		calls[i].Outcome, calls[i].TokenID, calls[i].Caller, calls[i].ApprovedBy = connectors.OutcomeOK, &connectors.AgentTokenID{UUID: uuid.New()}, "Zoë's program", ""
		calls[i].CallOrigin = connectors.CallOriginOf("203.0.113.9", fmt.Sprintf("request-%d", i))
	}
	for rest := calls; len(rest) > 0; rest = rest[min(2, len(rest)):] {
		if err := w.St.System().Calls().EndCalls(t.Context(), rest[:min(2, len(rest))]); err != nil {
			t.Fatal(err)
		}
	}
	return calls
}

func TestOutcomes_RecordEveryWayToEnd(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	if check := outcomes(t, w); check.Bad != nil || check.Calls != 0 || check.Places != 0 || len(check.Head) != 32 {
		t.Errorf("before the first call: %+v", check)
	}
	endCalls(t, w, 3)
	dead, silent := fixture.NewInstance(), fixture.NewInstance()
	open := batchOf(t, w, 1, 7) // one for each way to end a call that has begun
	begin := func(c *store.OwnedCall, by *connectors.InstanceID) {
		t.Helper()
		c.Status, c.CompletedAt, c.InstanceID = connectors.CallRunning, nil, by
		if err := w.St.System().Calls().BeginCalls(t.Context(), []store.OwnedCall{*c}); err != nil {
			t.Fatal(err)
		}
	}
	begin(&open[0], &dead)
	begin(&open[1], &silent)
	begin(&open[2], &w.Instance)
	begin(&open[3], &w.Instance)
	if check := outcomes(t, w); check.Calls != 3 {
		t.Errorf("of calls that go on: %+v", check)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.St.System().Calls().CloseInstanceCalls(t.Context(), dead))
	_, err := w.St.System().Calls().SweepGateway(t.Context(), w.Instance)
	must(err)
	now := time.Now()
	open[2].Status, open[2].Outcome, open[2].CompletedAt = connectors.CallError, connectors.OutcomeTransport, &now
	must(w.St.System().Calls().EndCalls(t.Context(), open[2:3]))
	must(w.Door().Calls().SaveCallTask(t.Context(), open[3].ID, store.CallTask{State: []byte("{}"), Handle: "handle"}))
	open[3].Status, open[3].Outcome, open[3].Task = connectors.CallSuccess, connectors.OutcomeOK, []byte("{}")
	_, err = w.Door().Calls().EndCallTask(t.Context(), open[3].ToolCall)
	must(err)
	for _, c := range open[4:6] {
		c.Status, c.CompletedAt, c.InstanceID = connectors.CallRunning, nil, nil
		must(w.Door().Calls().InsertPendingCall(t.Context(), c.ToolCall))
	}
	_, err = w.Door().Calls().EndPendingCall(t.Context(), open[4].ID, store.CallEnd{Status: connectors.CallDenied, Outcome: connectors.OutcomeDenied})
	must(err)
	_, err = w.Door().Calls().EndPendingCall(t.Context(), open[5].ID, store.CallEnd{Status: connectors.CallCancelled, Outcome: connectors.OutcomeCancelled})
	must(err)
	must(w.St.System().Calls().EndCalls(t.Context(), open[6:7]))
	must(w.Door().Calls().MarkUndelivered(t.Context(), open[6].ID))
	if check := outcomes(t, w); check.Bad != nil || check.Calls != 10 || check.Gone != 0 {
		t.Fatalf("%+v %+v", check, check.Bad)
	}

	// A process that was believed dead tells how its call ended, and an agent goes.
	open[0].Status, open[0].Outcome, open[0].CompletedAt = connectors.CallSuccess, connectors.OutcomeOK, &now
	must(w.St.System().Calls().EndCalls(t.Context(), open[:1]))
	must(w.Door().Agents().Delete(t.Context(), *open[0].AgentID))
	check := outcomes(t, w)
	state, err := w.Door().Audit().OutcomeState(t.Context())
	if check.Bad != nil || check.Calls != 10 || err != nil || state.Calls != 10 || state.Good != 10 || state.CheckedAt == nil || state.Bad != nil {
		t.Errorf("%+v %+v, %+v, %v", check, check.Bad, state, err)
	}
}

// The runtime role may write the history, and the owner of the tables all of it. Changes are detected.
func TestCheckOutcomes_FindsChangedOutcome(t *testing.T) {
	t.Parallel()
	const (
		third  = ` where tenant_id = $1 and id = $2`
		asOwn  = `set session_replication_role = replica; `
		change = `update tool_calls set `
		last   = `(select max(n) from call_outcomes where tenant_id = $1)`
		again  = `outcome_hash((select hash from call_outcomes b where b.tenant_id = o.tenant_id and b.n = o.n - 1), o.n, o.tenant_id, o.at, o.kind, o.calls, o.body)`
	)
	for name, tc := range map[string]struct {
		sql    string
		owner  bool
		place  int64
		reason store.AuditReason
	}{
		"outcome":                 {change + `outcome = 'tool_error'` + third, false, 2, store.OutcomeChanged},
		"outcome, with no record": {asOwn + change + `outcome = 'tool_error'` + third, true, 2, store.OutcomeChanged},
		"there and back":          {change + `outcome = 'lost'` + third + `; ` + change + `outcome = 'tool_error'` + third, false, 2, store.OutcomeChanged},
		"status":                  {change + `status = 'cancelled'` + third, false, 2, store.OutcomeChanged},
		"error code":              {change + `error_code = 'timeout'` + third, false, 2, store.OutcomeChanged},
		"tool":                    {change + `tool = 'other'` + third, false, 2, store.OutcomeChanged},
		"agent":                   {change + `agent_id = gen_random_uuid()` + third, false, 2, store.OutcomeChanged},
		"agent's name":            {change + `agent_slug = 'other'` + third, false, 2, store.OutcomeChanged},
		"connector":               {change + `connector_id = gen_random_uuid()` + third, false, 2, store.OutcomeChanged},
		"credential":              {change + `credential_id = gen_random_uuid()` + third, false, 2, store.OutcomeChanged},
		"token":                   {change + `token_id = null` + third, false, 2, store.OutcomeChanged},
		"address":                 {change + `address = '203.0.113.10'` + third, false, 2, store.OutcomeChanged},
		"address, with no record": {asOwn + change + `address = '203.0.113.10'` + third, true, 2, store.OutcomeChanged},
		"no address":              {change + `address = null` + third, false, 2, store.OutcomeChanged},
		"request":                 {change + `request_id = 'request-0'` + third, false, 2, store.OutcomeChanged},
		"request, with no record": {asOwn + change + `request_id = 'request-0'` + third, true, 2, store.OutcomeChanged},
		"no request":              {asOwn + change + `request_id = null` + third, true, 2, store.OutcomeChanged},
		"caller":                  {change + `caller = ''` + third, false, 2, store.OutcomeChanged},
		"decided by":              {change + `approved_by = 'anna@example.com'` + third, false, 2, store.OutcomeChanged},
		"definition":              {change + `definition_hash = sha256('x')` + third, false, 2, store.OutcomeChanged},
		"when it began":           {change + `started_at = started_at - interval '1 microsecond'` + third, false, 2, store.OutcomeChanged},
		"when it ended":           {change + `completed_at = completed_at + interval '1 microsecond'` + third, false, 2, store.OutcomeChanged},
		"how long it took":        {change + `duration_us = duration_us + 1` + third, false, 2, store.OutcomeChanged},
		"size":                    {change + `response_bytes = response_bytes + 1` + third, false, 2, store.OutcomeChanged},
		"not ended":               {change + `status = 'running', outcome = '', completed_at = null, duration_us = null` + third, false, 2, store.OutcomeChanged},
		"deleted":                 {`delete from tool_calls` + third, false, 2, store.OutcomeGone},
		"deleted, with no record": {asOwn + `delete from tool_calls` + third, true, 2, store.OutcomeGone},
		"another one for it": {`create temp table kept as select * from tool_calls` + third + `; delete from tool_calls` + third + `; update kept set outcome = 'tool_error'; insert into tool_calls select * from kept`,
			true, 2, store.OutcomeChanged},
		"body":             {`update call_outcomes set body = set_byte(body, 30, get_byte(body, 30) # 1) where tenant_id = $1 and n = 2`, true, 2, store.OutcomeLinkChanged},
		"number of calls":  {`update call_outcomes set calls = 1 where tenant_id = $1 and n = 2`, true, 2, store.OutcomeLinkChanged},
		"time":             {`update call_outcomes set at = at + interval '1 microsecond' where tenant_id = $1 and n = 2`, true, 2, store.OutcomeLinkChanged},
		"kind":             {`update call_outcomes set kind = 'changed' where tenant_id = $1 and n = 2`, true, 2, store.OutcomeLinkChanged},
		"one hash renewed": {`update call_outcomes o set kind = 'changed' where tenant_id = $1 and n = 2; update call_outcomes o set hash = ` + again + ` where tenant_id = $1 and n = 2`, true, 3, store.OutcomeLinkChanged},
		"link removed":     {`delete from call_outcomes where tenant_id = $1 and n = 2`, true, 2, store.AuditLinkGone},
		"first removed":    {`delete from call_outcomes where tenant_id = $1 and n = 1`, true, 1, store.AuditCutOff},
		"last cut off":     {`delete from call_outcomes where tenant_id = $1 and n = ` + last, true, 3, store.AuditRestGone},
		"end moved":        {`update call_outcome_heads set hash = sha256('x') where tenant_id = $1`, true, 3, store.AuditEndMoved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			calls := endCalls(t, w, 5)
			if check := outcomes(t, w); check.Bad != nil || check.Calls != 5 || check.Places != 3 {
				t.Fatalf("%+v %+v", check, check.Bad)
			}
			sql := strings.NewReplacer("$1", "'"+w.Tenant.String()+"'", "$2", "'"+calls[2].ID.String()+"'").Replace(tc.sql)
			if tc.owner {
				w.AsOwner(t, sql)
			} else {
				for one := range strings.SplitSeq(sql, "; ") {
					w.AsSystem(t, one, nil)
				}
			}
			check := outcomes(t, w)
			if check.Bad == nil || check.Bad.N != tc.place || check.Bad.Reason != tc.reason {
				t.Fatalf("%+v", check.Bad)
			}
			if ofCall := tc.reason == store.OutcomeChanged || tc.reason == store.OutcomeGone; ofCall != (check.Bad.Call != nil) || ofCall && *check.Bad.Call != calls[2].ID {
				t.Errorf("it is said of call %v", check.Bad.Call)
			}
			state, err := w.Door().Audit().OutcomeState(t.Context())
			if err != nil || state.Bad == nil || state.Bad.N != tc.place || state.Bad.Reason != tc.reason || (state.Bad.Call == nil) != (check.Bad.Call == nil) {
				t.Errorf("%+v, %v", state, err)
			}
			if theirs, err := w.OtherDoor().Audit().CheckOutcomes(t.Context(), nil, time.Time{}); err != nil || theirs.Bad != nil {
				t.Errorf("another tenant's: %+v, %v", theirs, err)
			}
		})
	}
}

func TestOutcomes_RuntimeRoleCannotWrite(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	endCalls(t, w, 2)
	for _, sql := range []string{
		"insert into call_outcomes (tenant_id, n, at, kind, calls, body, hash) select tenant_id, n + 1, at, kind, calls, body, hash from call_outcomes",
		"update call_outcomes set body = ''", "delete from call_outcomes", "truncate call_outcomes", "select * from call_outcomes_first",
		"update call_outcome_heads set places = 0", "update call_outcome_heads set calls = 0", "delete from call_outcome_heads",
		"insert into call_outcome_heads (tenant_id) select gen_random_uuid()", "truncate tool_calls",
		"select link_outcomes('ended', array_agg(tenant_id), array[1], array[body]) from call_outcomes group by body", "alter table tool_calls disable trigger note_calls",
		"drop trigger note_calls on tool_calls", "set local session_replication_role = replica",
	} {
		if err := asSystem(t.Context(), w.Pool, sql, nil); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: %v, want that the role may not", sql, err)
		}
	}
	// Tables of the session's own stand before none of ours.
	err := asSystem(t.Context(), w.Pool, `
		create temp table call_outcomes (like public.call_outcomes) on commit drop; create temp table call_outcome_heads (like public.call_outcome_heads) on commit drop;
		update tool_calls set outcome = 'tool_error'`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if check := outcomes(t, w); check.Bad == nil || check.Bad.Reason != store.OutcomeChanged || check.Places != 2 {
		t.Errorf("%+v %+v", check, check.Bad)
	}
}

func TestOutcomes_SurviveSweepOfCalls(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.OldCalls(t, c, "search", 100, 7)
	w.OldCalls(t, c, "search", 20, 5)
	sweep := func(days int) {
		t.Helper()
		if _, err := w.Door().SweepHistory(t.Context(), connectors.HistoryParts[0], store.SweepBatch{Before: time.Now().AddDate(0, 0, -days), Max: 4}); err != nil {
			t.Fatal(err)
		}
	}
	sweep(90)
	if check := outcomes(t, w); check.Bad != nil || check.Calls != 12 || check.Gone != 4 {
		t.Errorf("in the midst of a sweep: %+v %+v", check, check.Bad)
	}
	sweep(90)
	if check := outcomes(t, w); check.Bad != nil || check.Calls != 12 || check.Gone != 7 {
		t.Errorf("after it: %+v %+v", check, check.Bad)
	}
	sweep(10) // not allowed: history is kept for at least 30 days
	if check := outcomes(t, w); check.Bad == nil || check.Bad.Reason != store.OutcomeGone || check.Gone != 11 {
		t.Errorf("younger ones: %+v %+v", check, check.Bad)
	}
}

func TestACheckOfManyCallsGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	calls := endCalls(t, w, 6)
	w.AsSystem(t, `update tool_calls set outcome = 'lost' where tenant_id = $1 and id = $2`, []any{w.Tenant, calls[0].ID})
	var rest *store.OutcomeCursor
	turns := 0
	for ; turns < 10; turns++ {
		until := time.Now().Add(-time.Hour)
		if turns == 3 {
			until = time.Time{}
		}
		check, err := w.Door().Audit().CheckOutcomes(t.Context(), rest, until)
		if err != nil {
			t.Fatal(err)
		}
		if check.Rest == nil {
			if check.Bad == nil || *check.Bad.Call != calls[0].ID || check.Bad.N != 1 {
				t.Errorf("%+v", check.Bad)
			}
			break
		}
		if state, err := w.Door().Audit().OutcomeState(t.Context()); err != nil || state.CheckedAt != nil {
			t.Errorf("what is not whole is kept: %+v, %v", state, err)
		}
		stored, err := json.Marshal(check.Rest) // another process goes on
		if err != nil {
			t.Fatal(err)
		}
		rest = new(store.OutcomeCursor)
		if err := json.Unmarshal(stored, rest); err != nil {
			t.Fatal(err)
		}
	}
	if turns != 3 {
		t.Errorf("it took %d turns", turns)
	}
	if other, err := w.OtherDoor().Audit().CheckOutcomes(t.Context(), rest, time.Time{}); err != nil || other.Bad != nil || other.Calls != 0 {
		t.Errorf("from where another tenant's stopped: %+v, %v", other, err)
	}
}

func TestCheckOutcomes_CallsEndingMeanwhile(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	batch := batchOf(t, w, 2, 40)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for n := 0; n < 40 && ctx.Err() == nil; n++ {
				mine := append([]store.OwnedCall(nil), batch...)
				for i := range mine {
					mine[i].ID.UUID = uuid.Must(uuid.NewV7())
					if i%4 == 0 {
						mine[i].Outcome = connectors.OutcomeLost
					}
				}
				if err := w.St.System().Calls().EndCalls(ctx, mine); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				for i := range mine {
					mine[i].Outcome = connectors.OutcomeOK
				}
				if err := w.St.System().Calls().EndCalls(ctx, mine); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for n := 0; n < 20 && ctx.Err() == nil; n++ {
			_ = asSystem(ctx, w.Pool, fmt.Sprintf(`insert into tool_calls (tenant_id, id, agent_slug, connector_slug, tool, exposed_name, status, outcome, started_at, completed_at, duration_us)
				select '%s', (left(audit_id_at(now() - interval '60 days')::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, 'a', 'b', 'c', 'd', 'success', 'ok', now(), now(), 0 from generate_series(1, 20)`, w.Tenant), nil)
			_ = asSystem(ctx, w.Pool, `delete from tool_calls where id < audit_id_at(now() - interval '40 days')`, nil)
		}
	})
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for checks := 0; ; checks++ {
		if check := outcomes(t, w); check.Bad != nil {
			t.Errorf("%+v %+v", check, check.Bad)
			break
		}
		select {
		case <-done:
			stop()
			check := outcomes(t, w)
			if check.Bad != nil || check.Calls != 3*40*20+20*20 || check.Gone != 20*20 || c.ID.UUID == uuid.Nil {
				t.Errorf("%+v %+v", check, check.Bad)
			}
			return
		default:
		}
	}
	stop()
	<-done
}

func TestOutcomes_LiveWithTheirTenant(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	batch := batchOf(t, w, 3, 9)
	if err := w.St.System().Calls().EndCalls(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	made := batch[2].Tenant
	if check, err := w.St.Tenant(made).Audit().CheckOutcomes(t.Context(), nil, time.Time{}); err != nil || check.Bad != nil || check.Calls != 3 {
		t.Errorf("%+v, %v", check, err)
	}
	if err := w.St.System().DeleteTenant(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	var left int
	w.AsSystem(t, "select count(*) from call_outcomes where tenant_id = $1", []any{made}, &left)
	if left != 0 || w.Count(t, "call_outcome_heads") != 3 {
		t.Errorf("%d links are left", left)
	}
}

// atTime moves the tenant's links to other times, as they would have been recorded then.
func atTime(t *testing.T, w *fixture.World, times ...time.Time) {
	t.Helper()
	for i, at := range times {
		w.AsOwner(t, fmt.Sprintf(`
			update call_outcomes o set at = '%[3]s', hash = outcome_hash(case when n = 1 then decode(repeat('00', 32), 'hex') else (select hash from call_outcomes b where b.tenant_id = o.tenant_id and b.n = o.n - 1) end,
				o.n, o.tenant_id, '%[3]s', o.kind, o.calls, o.body) where tenant_id = '%[1]s' and n = %[2]d`, w.Tenant, i+1, at.UTC().Format(time.RFC3339Nano)),
			fmt.Sprintf(`update call_outcome_heads h set hash = o.hash from call_outcomes o where o.tenant_id = h.tenant_id and o.n = h.places and h.tenant_id = '%s'`, w.Tenant))
	}
}

func TestCutAudit_CutsOutcomesToo(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]string{"": "", "a part that nobody signed": `delete from call_outcomes where tenant_id = $1 and n = 3`, "the word is gone": `delete from audit_events where tenant_id = $1 and action = 'audit.cut'`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, end := aged(t)
			endCalls(t, w, 7)
			atTime(t, w, end.Add(-time.Hour), end.Add(-time.Microsecond), end, end.Add(time.Hour))
			if check := outcomes(t, w); check.Bad != nil || check.Places != 4 {
				t.Fatalf("%+v %+v", check, check.Bad)
			}
			cutOff(t, w, end)
			check := outcomes(t, w)
			if check.Bad != nil || check.Cut != 2 || check.Places != 4 || check.Calls != 3 {
				t.Fatalf("%+v %+v", check, check.Bad)
			}
			endCalls(t, w, 2)
			cutOff(t, w, end) // of which nothing comes
			if check := outcomes(t, w); check.Bad != nil || check.Cut != 2 || check.Calls != 5 {
				t.Errorf("%+v %+v", check, check.Bad)
			}
			if log := checked(t, w); log.Bad != nil || log.Cut != 3 {
				t.Errorf("the log: %+v %+v", log, log.Bad)
			}
			if tamper == "" {
				return
			}
			w.AsOwner(t, strings.ReplaceAll(tamper, "$1", "'"+w.Tenant.String()+"'"))
			if check := outcomes(t, w); check.Bad == nil || check.Bad.N != 1 || check.Bad.Reason != store.AuditCutOff {
				t.Errorf("%+v", check.Bad)
			}
		})
	}
}

func TestCutAudit_RefusesOutcomesWithFlaw(t *testing.T) {
	t.Parallel()
	w, end := aged(t)
	endCalls(t, w, 2)
	w.AsSystem(t, "update tool_calls set outcome = 'tool_error'", nil)
	if n, err := w.Door().Audit().Cut(t.Context(), end, store.Event{ActorType: "operator"}); !fault.Is(err, fault.Conflict) || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
}
