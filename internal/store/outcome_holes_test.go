package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// The runtime role may run any statement. The tables belong to an owner with forced row level security, as
// outside of these tests.
func TestOutcomes_EveryStatementAddsLink(t *testing.T) {
	t.Parallel()
	const (
		ended = `update tool_calls set status = 'success', outcome = 'ok', completed_at = now(), duration_us = 0`
		fresh = `insert into tool_calls (tenant_id, id, agent_slug, connector_slug, tool, exposed_name, status, outcome, started_at, completed_at, duration_us)
			values ('$1', gen_random_uuid(), 'a', 'b', 'c', 'd', 'success', 'ok', now(), now(), 0)`
		blind = ` returning set_config('app.tenant_id', '', true), set_config('app.system', '', true)`
	)
	for name, sql := range map[string]string{
		"as it should":                         ended,
		"the tenant is taken away":             ended + blind,
		"of a call that never began, likewise": fresh + blind,
		"another tenant is set":                ended + ` returning set_config('app.tenant_id', gen_random_uuid()::text, true)`,
		"under another id":                     ended + `, id = gen_random_uuid()`,
		"within the trigger of its own table":  `create temp table mine (x int) on commit drop; create function pg_temp.go() returns trigger language plpgsql as 'begin ` + strings.ReplaceAll(ended, "'", "''") + `; return null; end'; create trigger go after insert on mine execute function pg_temp.go(); insert into mine values (1)`,
		"in another encoding":                  `set local client_encoding = 'LATIN1'; ` + ended + `, caller = 'Zo' || chr(235)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			open := batchOf(t, w, 1, 1)
			open[0].Status, open[0].CompletedAt, open[0].InstanceID = connectors.CallRunning, nil, &w.Instance
			if err := w.St.System().Calls().BeginCalls(t.Context(), open); err != nil {
				t.Fatal(err)
			}
			owned := underAnOwner(t, w)
			steps := append([]string{"set local role patchbay_app", fmt.Sprintf("select set_config('app.tenant_id', '%s', true)", w.Tenant)},
				strings.ReplaceAll(sql, "$1", w.Tenant.String()), "reset role")
			for _, step := range steps {
				if _, err := owned.Exec(t.Context(), step); err != nil {
					t.Fatalf("%s: %v", step, err)
				}
			}
			var have, told int64
			err := owned.QueryRow(t.Context(), `select (select count(*) from tool_calls where completed_at is not null), (select sum(calls) from call_outcomes where kind = 'ended')`).Scan(&have, &told)
			if err != nil || have != 1 || told != 1 {
				t.Errorf("%d calls have ended, of %d of them it is on record (%v)", have, told, err)
			}
			if err := owned.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if check := outcomes(t, w); check.Bad != nil || check.Calls != 1 {
				t.Errorf("%+v %+v", check, check.Bad)
			}
		})
	}
}

// underAnOwner gives tables and functions to a role that is no superuser, for as long as the transaction lasts.
func underAnOwner(t *testing.T, w *fixture.World) pgx.Tx {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	role := pgx.Identifier{"patchbay_owner_" + w.Tenant.String()}.Sanitize()
	_, err = tx.Exec(t.Context(), fmt.Sprintf(`
		create role %[1]s nologin;
		grant usage on schema public to %[1]s;
		do $$ declare one text; begin
			for one in select c.oid::regclass from pg_class c where c.relnamespace = 'public'::regnamespace and (c.relname in ('tool_calls', 'tenants') or c.relname like 'call_outcome%%') and c.relkind in ('r', 'p') loop
				execute format('alter table %%s owner to %[2]s', one);
			end loop;
			for one in select p.oid::regprocedure from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname in ('note_calls', 'note_changed_calls', 'note_removed_calls', 'link_outcomes') loop
				execute format('alter function %%s owner to %[2]s', one);
			end loop;
		end $$`, role, role))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := conn.Exec(context.Background(), "rollback; reassign owned by "+role+" to current_user; drop owned by "+role+"; drop role "+role)
		if err != nil && !strings.Contains(err.Error(), "does not exist") {
			t.Error(err)
		}
	})
	return tx
}

func TestCheckOutcomes_LostCallsReturnMeanwhile(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	const calls = 1200
	for _, outcome := range []connectors.CallOutcome{connectors.OutcomeLost, connectors.OutcomeOK} {
		batch := batchOf(t, w, 1, calls)
		for i := range batch {
			batch[i].ID.UUID, batch[i].Outcome = uuid.UUID{6: 0x70, 8: 0x80, 14: byte(i >> 8), 15: byte(i)}, outcome
			batch[i].ID.UUID[0] = 1
		}
		if err := w.St.System().Calls().EndCalls(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if check := outcomes(t, w); check.Bad != nil || check.Calls != calls {
		t.Errorf("%+v %+v", check, check.Bad)
	}
	// One that was altered afterwards is found all the same, and so is one that is lost otherwise than it was.
	w.AsSystem(t, `update tool_calls set tool = 'other' where id = (select id from tool_calls order by id offset 700 limit 1)`, nil)
	if check := outcomes(t, w); check.Bad == nil || check.Bad.Reason != store.OutcomeChanged || check.Bad.Call.UUID[14] != 700>>8 {
		t.Errorf("%+v %+v", check, check.Bad)
	}
}

func TestCheckOutcomes_LostCallChangedTwice(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	batch := batchOf(t, w, 1, 1)
	batch[0].Outcome = connectors.OutcomeLost
	if err := w.St.System().Calls().EndCalls(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	w.AsSystem(t, `update tool_calls set caller = 'somebody else'`, nil)
	if check := outcomes(t, w); check.Bad == nil || check.Bad.Reason != store.OutcomeChanged || *check.Bad.Call != batch[0].ID {
		t.Errorf("%+v %+v", check, check.Bad)
	}
}

func TestAWalkRemembersWhichCallsWereLost(t *testing.T) {
	t.Parallel()
	walk := store.OutcomeCursor{N: 7}
	raw := []byte(`{"n":7,"lost":"AQAAAAAAcACAAAAAAAAAAgAAAAAAAAAF"}`)
	if err := json.Unmarshal(raw, &walk); err != nil {
		t.Fatal(err)
	}
	id := uuid.UUID{0: 1, 6: 0x70, 8: 0x80, 15: 2}
	if len(walk.Lost) != 1 || walk.Lost[id] != 5 {
		t.Errorf("%v", walk.Lost)
	}
	again, err := json.Marshal(walk)
	if err != nil || !strings.Contains(string(again), `"lost":"AQAAAAAAcACAAAAAAAAAAgAAAAAAAAAF"`) {
		t.Errorf("%s, %v", again, err)
	}
}

func TestCheckOutcomes_TenantDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	endCalls(t, w, 5)
	rest := &store.OutcomeCursor{Tenant: w.Tenant, N: 2, Hash: bytes.Repeat([]byte{1}, 32), Calls: 4} // of a check that goes on
	if err := w.St.System().DeleteTenant(t.Context(), w.Tenant); err != nil {
		t.Fatal(err)
	}
	if check, err := w.Door().Audit().CheckOutcomes(t.Context(), rest, time.Time{}); err != nil || check.Bad != nil || check.Rest != nil {
		t.Errorf("%+v %+v, %v", check, check.Bad, err)
	}
}

func TestAChainWhoseEndIsRemovedIsFound(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{"its end": `delete from call_outcome_heads`, "all of it": `delete from call_outcomes; delete from call_outcome_heads`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			endCalls(t, w, 5)
			w.AsOwner(t, sql)
			if check := outcomes(t, w); check.Bad == nil || check.Bad.N != 1 {
				t.Errorf("%+v %+v", check, check.Bad)
			}
			err := asSystem(t.Context(), w.Pool, `update tool_calls set caller = 'somebody else'`, nil)
			if err == nil || !strings.Contains(err.Error(), "is on record of 0") {
				t.Errorf("a call is written of which nothing can be put on record: %v", err)
			}
		})
	}
}

func TestCheckOutcomes_ResumesAfterCut(t *testing.T) {
	t.Parallel()
	w, end := aged(t)
	endCalls(t, w, 7)
	atTime(t, w, end.Add(-time.Hour), end.Add(-time.Microsecond), end, end.Add(time.Hour))
	first, err := w.Door().Audit().CheckOutcomes(t.Context(), nil, time.Now().Add(-time.Hour))
	if err != nil || first.Rest == nil || first.Rest.N != 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	cutOff(t, w, end)
	if check, err := w.Door().Audit().CheckOutcomes(t.Context(), first.Rest, time.Time{}); err != nil || check.Bad != nil || check.Cut != 2 || check.Calls != 3 {
		t.Errorf("%+v %+v, %v", check, check.Bad, err)
	}
}

// Each batch ends a call that had begun and writes one that had not, of two tenants, and the other way round.
func TestEndCalls_BatchesDoNotDeadlock(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	calls := batchOf(t, w, 2, 4) // tenants 0 1 0 1
	if calls[0].Tenant.String() > calls[1].Tenant.String() {
		calls[0], calls[1], calls[2], calls[3] = calls[1], calls[0], calls[3], calls[2]
	}
	one, other := []store.OwnedCall{calls[0], calls[1]}, []store.OwnedCall{calls[3], calls[2]}
	for i := range other { // of another hour, with other sums
		at := other[i].StartedAt.Add(-3 * time.Hour)
		other[i].StartedAt, other[i].CompletedAt = at, &at
	}
	for _, c := range []store.OwnedCall{one[0], other[0]} {
		c.Status, c.CompletedAt, c.InstanceID = connectors.CallRunning, nil, &w.Instance
		if err := w.St.System().Calls().BeginCalls(t.Context(), []store.OwnedCall{c}); err != nil {
			t.Fatal(err)
		}
	}
	held, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Rollback(context.Background()) }()
	for _, sql := range []string{"select set_config('app.system', 'on', true)", fmt.Sprintf("select from call_outcome_heads where tenant_id = '%s' for no key update", calls[0].Tenant)} {
		if _, err := held.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 2)
	for n, batch := range [][]store.OwnedCall{one, other} {
		go func() { done <- w.St.System().Calls().EndCalls(t.Context(), batch) }()
		waiting(t, w, n+1)
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// waiting waits until so many connections of the database wait for a lock.
func waiting(t *testing.T, w *fixture.World, n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	late := time.Now().Add(time.Minute)
	for have := 0; have < n; {
		if time.Now().After(late) {
			t.Fatalf("%d sessions wait for a lock, and not %d", have, n)
		}
		err := conn.QueryRow(t.Context(), `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).Scan(&have)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A batch locks its tenants, and then the records of their calls.
func TestDeleteTenant_WhileCallsAreWritten(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.OldCalls(t, w.Connector(t), "search", 40, 3)
	batch, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = batch.Rollback(context.Background()) }()
	for _, sql := range []string{"select set_config('app.system', 'on', true)", fmt.Sprintf("select from tenants where id = '%s' for key share", w.Tenant)} {
		if _, err := batch.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- w.St.System().DeleteTenant(t.Context(), w.Tenant) }()
	waiting(t, w, 1)
	if _, err := batch.Exec(t.Context(), fmt.Sprintf("select from call_outcome_heads where tenant_id = '%s' for no key update", w.Tenant)); err != nil {
		t.Error(err)
	}
	_ = batch.Rollback(t.Context())
	if err := <-done; err != nil {
		t.Error(err)
	}
}
