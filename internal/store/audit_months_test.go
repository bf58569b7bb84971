package store_test

import (
	"fmt"
	"testing"
	"time"

	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// months are the parts of the audit log but for the two that are always there.
func months(t *testing.T, w *fixture.World) (n int) {
	t.Helper()
	w.AsSystem(t, "select count(*) from audit_months where name <> 'audit_events_first'", nil, &n)
	return n
}

func makeMonths(t *testing.T, w *fixture.World) int {
	t.Helper()
	made, err := w.St.System().MakeAuditMonths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestTheAuditLogsMonthsAreMadeAhead(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	made := makeMonths(t, w)
	if made < 2 || made > 3 || months(t, w) != made {
		t.Fatalf("%d made, %d there", made, months(t, w))
	}
	if again := makeMonths(t, w); again != 0 {
		t.Errorf("%d more", again)
	}
	var last time.Time
	w.AsSystem(t, "select max(ends) from audit_months", nil, &last)
	now := time.Now().UTC()
	if want := time.Date(now.Year(), now.Month()+4, 1, 0, 0, 0, 0, time.UTC); !last.Equal(want) { // this month and three more
		t.Errorf("they end at %v, want %v", last, want)
	}
	recordEvent(t, w, "anna", "test.one", "x")
	if check := checked(t, w); check.Bad != nil || check.Events != 1 {
		t.Errorf("%+v", check)
	}
}

// missMonths makes the audit log end a month ago, as if no partition had been made since.
func missMonths(t *testing.T, w *fixture.World) {
	t.Helper()
	w.AsOwner(t, `alter table audit_events detach partition audit_events_first`, `alter table call_outcomes detach partition call_outcomes_first`, `delete from audit_months`,
		`insert into audit_months (name, ends) values ('audit_events_first', date_trunc('month', now(), 'UTC') - interval '1 month')`,
		`do $$ begin execute format('alter table audit_events attach partition audit_events_first for values from (minvalue) to (%L)',
			audit_id_at(date_trunc('month', now(), 'UTC') - interval '1 month')); end $$`,
		`do $$ begin execute format('alter table call_outcomes attach partition call_outcomes_first for values from (minvalue) to (%L)',
			date_trunc('month', now(), 'UTC') - interval '1 month'); end $$`)
}

func TestAMonthThatIsMissingRefusesNoAct(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	missMonths(t, w)
	for i := range 5 {
		recordEvent(t, w, "anna", fmt.Sprintf("test.%d", i), "x")
	}
	inDefault := func() (n int) {
		w.AsSystem(t, "select count(*) from audit_events where tableoid = 'audit_events_default'::regclass", nil, &n)
		return n
	}
	if n := inDefault(); n != 5 {
		t.Fatalf("%d of 5 entries are in the part of no month", n)
	}
	if check := checked(t, w); check.Bad != nil || check.Events != 5 {
		t.Fatalf("%+v", check)
	}
	if made := makeMonths(t, w); made < 5 {
		t.Errorf("%d made", made)
	}
	if n := inDefault(); n != 0 {
		t.Errorf("%d entries were left in the part of no month", n)
	}
	recordEvent(t, w, "anna", "test.after", "x")
	if check := checked(t, w); check.Bad != nil || check.Events != 6 {
		t.Errorf("after they were moved: %+v %+v", check, check.Bad)
	}
	if list, err := w.Door().Audit().List(t.Context(), store.AuditFilter{}); err != nil || len(list.Items) != 6 {
		t.Errorf("%d entries, %v", len(list.Items), err)
	}
}

func TestMonthsThatCannotBeMadeNowAreMadeLater(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	recordEvent(t, w, "anna", "test.one", "x")
	tx, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "select pg_advisory_xact_lock(hashtextextended('patchbay audit months', 0))"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.St.System().MakeAuditMonths(t.Context()); err == nil {
		t.Fatal("it went past another one")
	}
	recordEvent(t, w, "anna", "test.two", "x")
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if makeMonths(t, w) == 0 || checked(t, w).Bad != nil {
		t.Error("they are not made")
	}
}
