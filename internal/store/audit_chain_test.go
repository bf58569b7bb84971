package store_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// chainAttempts are the outsider's at the audit chain.
var chainAttempts = map[string]attempt{
	"Audit.Check": func(ctx context.Context, o outsider) (bool, error) {
		own, err := o.door.Audit().Check(ctx)
		return own.Bad != nil || own.Events != int64(auditEvents(ctx, o)), err
	},
	"Audit.State": func(ctx context.Context, o outsider) (bool, error) {
		own, err := o.door.Audit().State(ctx)
		return own.Events != int64(auditEvents(ctx, o)), err
	},
	"Audit.CheckOutcomes": func(ctx context.Context, o outsider) (bool, error) {
		own, err := o.door.Audit().CheckOutcomes(ctx, nil, time.Time{})
		return own.Bad != nil || own.Calls+own.Places != 0, err
	},
	"Audit.OutcomeState": func(ctx context.Context, o outsider) (bool, error) {
		own, err := o.door.Audit().OutcomeState(ctx)
		return own.Calls != 0, err
	},
}

func checked(t *testing.T, w *fixture.World) store.AuditCheck {
	t.Helper()
	check, err := w.Door().Audit().Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return check
}

func TestTheAuditLogIsAChainOfAllItsColumns(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	if check := checked(t, w); check.Bad != nil || check.Events != 0 {
		t.Errorf("an empty log: %+v", check)
	}
	e := store.Event{ActorType: "system", ActorName: "Zoë \U0001F511", Action: "test.one", Target: "", Detail: map[string]any{"b": []any{1, 2.5, nil}, "a": "ü\n"}}
	if err := store.RecordAnything(t.Context(), w.Door(), e); err != nil {
		t.Fatal(err)
	}
	recordEvent(t, w, "anna@example.com", "test.two", "x")
	check := checked(t, w)
	if check.Bad != nil || check.Events != 2 || len(check.Head) != 32 {
		t.Fatalf("%+v", check)
	}
	list, err := w.Door().Audit().List(t.Context(), store.AuditFilter{})
	if err != nil || !bytes.Equal(list.Items[0].Hash, check.Head) || len(list.Items[1].Hash) != 32 {
		t.Errorf("%+v, %v", list.Items, err)
	}
	state, err := w.Door().Audit().State(t.Context())
	if err != nil || state.Events != 2 || state.Good != 2 || state.Bad != nil || state.CheckedAt == nil {
		t.Errorf("%+v, %v", state, err)
	}
	if others, err := w.OtherDoor().Audit().Check(t.Context()); err != nil || others.Events != 0 || others.Head != nil {
		t.Errorf("another tenant's: %+v, %v", others, err)
	}
}

// Direct writes to the tables are detected.
func TestATamperedAuditLogIsFound(t *testing.T) {
	t.Parallel()
	const third = `(select event_id from audit_chain where tenant_id = $1 and n = 3)`
	for name, tc := range map[string]struct {
		sql string
		bad int64
	}{
		"action":           {`update audit_events set action = 'test.other' where tenant_id = $1 and id = ` + third, 3},
		"actor":            {`update audit_events set actor_name = 'ben' where tenant_id = $1 and id = ` + third, 3},
		"kind of actor":    {`update audit_events set actor_type = 'key' where tenant_id = $1 and id = ` + third, 3},
		"id of the actor":  {`update audit_events set actor_id = gen_random_uuid() where tenant_id = $1 and id = ` + third, 3},
		"time":             {`update audit_events set at = at + interval '1 microsecond' where tenant_id = $1 and id = ` + third, 3},
		"detail":           {`update audit_events set detail = '{"n": 2}' where tenant_id = $1 and id = ` + third, 3},
		"address":          {`update audit_events set ip = '' where tenant_id = $1 and id = ` + third, 3},
		"request":          {`update audit_events set request_id = 'r2' where tenant_id = $1 and id = ` + third, 3},
		"between columns":  {`update audit_events set target = target || left(request_id, 1), request_id = substr(request_id, 2) where tenant_id = $1 and id = ` + third, 3},
		"entry deleted":    {`delete from audit_events where tenant_id = $1 and id = ` + third, 3},
		"with its link":    {`with gone as (delete from audit_chain where tenant_id = $1 and n = 3 returning event_id) delete from audit_events where tenant_id = $1 and id in (select event_id from gone)`, 3},
		"last cut off":     {`with gone as (delete from audit_chain where tenant_id = $1 and n = 5 returning event_id) delete from audit_events where tenant_id = $1 and id in (select event_id from gone)`, 5},
		"one hash renewed": {`update audit_chain c set hash = audit_hash((select hash from audit_chain where tenant_id = $1 and n = 2), 3, (select e from audit_events e where e.tenant_id = $1 and e.id = c.event_id)) where tenant_id = $1 and n = 4`, 4},
		"end moved":        {`update audit_heads set hash = sha256('x') where tenant_id = $1`, 5},
		"slipped in":       {`set session_replication_role = replica; insert into audit_events (tenant_id, id, actor_type, actor_name, action, target, detail, request_id, ip) values ($1, gen_random_uuid(), 'system', '', 'x', '', '{}', '', '')`, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			for i := range 5 {
				recordEvent(t, w, "anna", fmt.Sprintf("test.%d", i), "x")
			}
			tamper(t, w, tc.sql)
			check := checked(t, w)
			if check.Bad == nil || check.Bad.N != tc.bad || check.Bad.Reason == "" {
				t.Fatalf("%+v", check.Bad)
			}
			if state, err := w.Door().Audit().State(t.Context()); err != nil || state.Bad == nil || state.Bad.N != tc.bad || state.Bad.Reason != check.Bad.Reason || state.Good != tc.bad-1 && state.Good != tc.bad {
				t.Errorf("%+v, %v", state, err)
			}
		})
	}
}

// tamper runs SQL as the owner of the tables, with the tenant's id for $1.
func tamper(t *testing.T, w *fixture.World, sql string) {
	t.Helper()
	w.AsOwner(t, strings.ReplaceAll(sql, "$1", "'"+w.Tenant.String()+"'"))
}

func TestAuditLog_RuntimeRoleOnlyAppends(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	recordEvent(t, w, "anna", "test.one", "x")
	for _, sql := range []string{
		"insert into audit_chain (tenant_id, n, event_id, hash) select tenant_id, 9, gen_random_uuid(), hash from audit_chain",
		"update audit_chain set hash = hash", "delete from audit_chain", "update audit_heads set events = 0", "delete from audit_heads",
		"update audit_events set action = 'test.other'", "delete from audit_events", "truncate audit_events",
		"select audit_link(e) from audit_events e", "alter table audit_events disable trigger audit_chained",
	} {
		if err := asSystem(t.Context(), w.Pool, sql, nil); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s: %v, want that the role may not", sql, err)
		}
	}
	// Tables of the session's own stand before none of ours.
	err := asSystem(t.Context(), w.Pool, `
		create temp table audit_heads (like public.audit_heads) on commit drop; create temp table audit_chain (like public.audit_chain) on commit drop;
		insert into audit_events (tenant_id, id, actor_type, actor_name, action, target, detail, request_id, ip)
		select tenant_id, gen_random_uuid(), actor_type, actor_name, action, target, detail, request_id, ip from audit_events`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if check := checked(t, w); check.Bad != nil || check.Events != 2 {
		t.Errorf("%+v", check)
	}
}

// An act is refused if its entry cannot be chained.
func TestAuditLog_ActFailsWithoutItsEntry(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	recordEvent(t, w, "anna", "test.one", "x")
	for name, sql := range map[string]string{
		"no entry": `create function refuse() returns trigger language plpgsql as $f$ begin raise 'the disk is full'; end $f$; create trigger refuse before insert on audit_events for each row execute function refuse()`,
		"no link":  `drop trigger if exists refuse on audit_events; insert into audit_chain select tenant_id, 2, gen_random_uuid(), hash from audit_chain where tenant_id = $1`,
	} {
		tamper(t, w, sql)
		err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
			if err := store.RecordAnything(t.Context(), tx, store.Event{ActorType: "system", Action: "tenant.rename"}); err != nil {
				return err
			}
			return tx.Rename(t.Context(), "Another")
		})
		if err == nil {
			t.Errorf("%s: the act went through", name)
		}
		if tenant, err := w.Door().Self(t.Context()); err != nil || tenant.Name == "Another" {
			t.Errorf("%s: the act had its effect: %+v, %v", name, tenant, err)
		}
	}
}

// Entries of one moment, by many at once and several in a transaction, make one chain each tenant, and wait in no circle.
func TestEntriesOfManyAtOnceMakeOneChain(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 10 {
				err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
					if i%2 == 0 { // before what it is about is locked, and after
						if err := store.RecordAnything(t.Context(), tx, store.Event{ActorType: "system", Action: "test.before"}); err != nil {
							return err
						}
					}
					if err := tx.Rename(t.Context(), "Acme"); err != nil { // locks the tenant's row
						return err
					}
					return store.RecordAnything(t.Context(), tx, store.Event{ActorType: "system", Action: fmt.Sprintf("test.%d.%d", i, n)})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if check := checked(t, w); check.Bad != nil || check.Events != 120 {
		t.Errorf("%+v, %+v", check, check.Bad)
	}
}
