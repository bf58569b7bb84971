package jobs_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestRecordLocks_RecordsALockedAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	m := b.Member(t, connectors.RoleMember)
	for range 10 {
		if err := b.St.System().People().RecordSignInFailure(t.Context(), m.Email, "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
	}
	b.startChecks(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		list, err := b.Door().Audit().List(t.Context(), store.AuditFilter{Action: "account.lock"})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) == 1 && list.Items[0].Target == m.Email {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("on record: %+v", list.Items)
		}
	}
}
