package store_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/db"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// aged is a world with audit partitions for more than a year: the first one, long ended, has three entries of
// the tenant.
func aged(t *testing.T) (w *fixture.World, end time.Time) {
	t.Helper()
	w = fixture.New(t)
	w.AsOwner(t, `alter table audit_events detach partition audit_events_first`, `alter table call_outcomes detach partition call_outcomes_first`, `delete from audit_months`,
		`insert into audit_months (name, ends) values ('audit_events_first', date_trunc('month', now(), 'UTC') - interval '14 months')`,
		`do $$ begin execute format('alter table audit_events attach partition audit_events_first for values from (minvalue) to (%L)',
			audit_id_at(date_trunc('month', now(), 'UTC') - interval '14 months')); end $$`,
		`do $$ begin execute format('alter table call_outcomes attach partition call_outcomes_first for values from (minvalue) to (%L)',
			date_trunc('month', now(), 'UTC') - interval '14 months'); end $$`)
	makeMonths(t, w)
	w.AsSystem(t, "select ends from audit_months where name = 'audit_events_first'", nil, &end)
	for i := range 3 {
		entryAt(t, w, w.Tenant, end.Add(time.Duration(i-5)*time.Hour), end.Add(time.Duration(i-5)*time.Hour))
	}
	return w, end
}

// entryAt adds an entry, with an id of one time and recorded at another.
func entryAt(t *testing.T, w *fixture.World, tenant connectors.TenantID, id, at time.Time) {
	t.Helper()
	w.AsSystem(t, `insert into audit_events (tenant_id, id, at, actor_type, actor_name, action, target)
		values ($1, (left(audit_id_at($2)::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, $3, 'system', '', 'table.export', 'x')`, []any{tenant, id, at})
}

// cut removes the first part, as the command does.
func cutOff(t *testing.T, w *fixture.World, end time.Time) (place int64, gone []string) {
	t.Helper()
	places := map[uuid.UUID]int64{}
	for _, tenant := range []connectors.TenantID{w.Tenant, w.Other} {
		n, err := w.St.Tenant(tenant).Audit().Cut(t.Context(), end, store.Event{ActorType: "operator"})
		if err != nil {
			t.Fatal(err)
		}
		places[tenant.UUID] = n
	}
	gone, err := db.CutAudit(t.Context(), w.URL, end, places)
	if err != nil {
		t.Fatal(err)
	}
	return places[w.Tenant.UUID], gone
}

func TestCutAudit_RestIsVerifiedFromCut(t *testing.T) {
	t.Parallel()
	w, end := aged(t)
	entryAt(t, w, w.Tenant, end.Add(time.Hour), end.Add(-time.Minute))   // a clock that was ahead
	entryAt(t, w, w.Tenant, end.AddDate(-2, 0, 0), end.AddDate(0, 1, 0)) // one that was years behind
	recordEvent(t, w, "anna", "test.recent", "x")
	entryAt(t, w, w.Other, end.AddDate(0, 2, 0), end.AddDate(0, 2, 0))
	place, gone := cutOff(t, w, end)
	if place != 4 || len(gone) != 1 || gone[0] != "audit_events_first" {
		t.Errorf("cut at %d: %v", place, gone)
	}
	check := checked(t, w)
	if check.Bad != nil || check.Cut != 4 || check.Events != 7 { // and the entry that tells of it
		t.Fatalf("%+v %+v", check, check.Bad)
	}
	list, err := w.Door().Audit().List(t.Context(), store.AuditFilter{})
	if err != nil || len(list.Items) != 3 || list.Items[0].Action != "audit.cut" {
		t.Errorf("%d entries, %v", len(list.Items), err)
	}
	recordEvent(t, w, "anna", "test.after", "x")
	if check := checked(t, w); check.Bad != nil || check.Events != 8 || check.Cut != 4 {
		t.Errorf("%+v %+v", check, check.Bad)
	}
	if other, err := w.OtherDoor().Audit().Check(t.Context()); err != nil || other.Bad != nil || other.Cut != 0 || other.Events != 1 {
		t.Errorf("another tenant's, of which nothing was old: %+v, %v", other, err)
	}
	if again, gone := cutOff(t, w, end); again != 4 || len(gone) != 0 {
		t.Errorf("again: %d, %v", again, gone)
	}
	if check := checked(t, w); check.Bad != nil || check.Events != 8 {
		t.Errorf("a cut of nothing is an entry: %+v %+v", check, check.Bad)
	}
}

func TestAnExportBeginsWhereTheLogWasCutOff(t *testing.T) {
	t.Parallel()
	w, end := aged(t)
	recordEvent(t, w, "anna", "test.recent", "x")
	cutOff(t, w, end)
	file, signature, key := exportOf(t, w)
	check, err := store.CheckAuditFile(bytes.NewReader(file), signature, key)
	if err != nil || check.Signed != nil || check.Bad != nil || check.Cut != 3 || check.Events != 5 || check.Tenant != w.Tenant {
		t.Fatalf("%+v, %v", check, err)
	}
	first, rest, _ := bytes.Cut(file, []byte("\n"))
	for name, changed := range map[string][]byte{
		"without the word of the cut": rest,
		"another place":               append(bytes.Replace(first, []byte(`"entries":3`), []byte(`"entries":2`), 1), append([]byte("\n"), rest...)...),
		"a word in the middle":        append(append(bytes.Clone(rest), first...), '\n'),
	} {
		if check, err := store.CheckAuditFile(bytes.NewReader(changed), signature, key); err != nil || check.Signed == nil || check.Bad == nil {
			t.Errorf("%s: %+v, %v", name, check, err)
		}
	}
}

// The owner of the tables lacks the installation's keys.
func TestACutThatPatchbayDidNotSignIsFound(t *testing.T) {
	t.Parallel()
	const gone = `; with gone as (delete from audit_chain where tenant_id = $1 and n <= %d returning event_id) delete from audit_events where tenant_id = $1 and id in (select event_id from gone)`
	const word = `insert into audit_events (tenant_id, id, actor_type, actor_name, action, target, detail)
		select $1, (left(audit_id_at(now())::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, 'operator', '', 'audit.cut', '', `
	for name, sql := range map[string]string{
		"without a word":    `select 1` + fmt.Sprintf(gone, 2),
		"a word of nobody":  word + `jsonb_build_object('entries', 2, 'hash', encode(hash, 'hex'), 'signature', encode(decode(repeat('41', 64), 'hex'), 'base64')) from audit_chain where tenant_id = $1 and n = 2` + fmt.Sprintf(gone, 2),
		"more than is said": `select 1` + fmt.Sprintf(gone, 4),
		"another's word": word + `e.detail from audit_events e where e.tenant_id <> $1 and e.action = 'audit.cut'; select 1` +
			`; delete from audit_events where tenant_id = $1 and action = 'audit.cut' and id < (select max(id::text)::uuid from audit_events where tenant_id = $1)`,
		"the word is gone": `delete from audit_events where tenant_id = $1 and action = 'audit.cut'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, end := aged(t)
			for i := range 3 {
				entryAt(t, w, w.Other, end.Add(time.Duration(i-5)*time.Hour), end.Add(time.Duration(i-5)*time.Hour))
				recordEvent(t, w, "anna", fmt.Sprintf("test.%d", i), "x")
			}
			if strings.Contains(name, "is said") || strings.Contains(name, "another's") || strings.Contains(name, "is gone") {
				cutOff(t, w, end)
			}
			if check := checked(t, w); check.Bad != nil {
				t.Fatalf("before: %+v", check.Bad)
			}
			tamper(t, w, sql)
			if check := checked(t, w); check.Bad == nil {
				t.Fatal("it is not found")
			}
		})
	}
}

func TestCutAudit_RefusesLogWithFlaw(t *testing.T) {
	t.Parallel()
	w, end := aged(t)
	recordEvent(t, w, "anna", "test.recent", "x")
	tamper(t, w, `update audit_events set target = 'y' where tenant_id = $1 and action = 'table.export'`)
	if n, err := w.Door().Audit().Cut(t.Context(), end, store.Event{ActorType: "operator"}); !fault.Is(err, fault.Conflict) || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestCutAudit_KeepsOneYear(t *testing.T) {
	t.Parallel()
	w, end := aged(t)
	if _, err := db.CutAudit(t.Context(), w.URL, time.Now().AddDate(0, -11, 0), nil); err == nil || !strings.Contains(err.Error(), "365 days") {
		t.Errorf("%v", err)
	}
	for _, sql := range []string{"drop table audit_events_first", "alter table audit_events detach partition audit_events_first", "delete from audit_chain", "delete from audit_months",
		"select * from audit_events_first", "insert into audit_events_default select * from audit_events"} {
		if _, err := w.Pool.Exec(context.WithoutCancel(t.Context()), sql); err == nil {
			t.Errorf("the program's role may %s", sql)
		}
	}
	if check := checked(t, w); check.Bad != nil || check.Events != 3 || end.IsZero() {
		t.Errorf("%+v", check)
	}
}
