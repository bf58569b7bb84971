package auth_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// guess gives wrong passwords, each from another address.
func (w world) guess(t *testing.T, email string, times int) {
	t.Helper()
	for i := range times {
		if _, err := w.auth.SignIn(t.Context(), email, "not the password", fmt.Sprintf("192.0.2.%d", i+1)); err == nil {
			t.Error("signed in")
		}
	}
}

// tell has two processes look at once.
func (w world) tell(t *testing.T) {
	t.Helper()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := auth.RecordLocks(t.Context(), w.St.System(), time.Now()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestALockedAccountIsOnRecordOnceForALock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, other := w.person(t, connectors.RoleMember), w.person(t, connectors.RoleMember)
	w.MemberIn(t, w.Other, connectors.RoleViewer, func(n *store.NewMember) { n.Email = m.Email })
	w.guess(t, m.Email, 9)
	w.guess(t, other.Email, 9)
	w.guess(t, "nobody@example.com", 12)
	if w.tell(t); len(entries(t, w.Door())) > 0 {
		t.Errorf("nine wrong ones: %+v", entries(t, w.Door()))
	}
	w.guess(t, m.Email, 5)
	w.tell(t)
	w.tell(t)
	want := []entry{{Action: "account.lock", Actor: "Patchbay", Target: m.Email, IP: "192.0.2.1"}}
	if diff := cmp.Diff(want, entries(t, w.Door())); diff != "" {
		t.Errorf("on record (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, entries(t, w.OtherDoor())); diff != "" {
		t.Errorf("in the other tenant that the password opens (-want +got):\n%s", diff)
	}

	w.AsSystem(t, "update sign_in_failures set at = at - interval '16 minutes'", nil)
	w.guess(t, m.Email, 10)
	w.tell(t)
	again := want[0]
	again.IP = "192.0.2.10" // from where the tenth came
	if diff := cmp.Diff(append(want, again), entries(t, w.Door())); diff != "" {
		t.Errorf("locked again (-want +got):\n%s", diff)
	}
}

// Repeated attempts keep an account locked and add no further audit entries.
func TestSomebodyWhoGoesOnTryingFillsNoLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	w.AsSystem(t, `insert into sign_in_failures (account, address, at) select $1, '192.0.2.1', now() - n * interval '90 seconds' from generate_series(1, 30) n`, []any{m.Email})
	for range 5 {
		w.tell(t)
	}
	if n := len(entries(t, w.Door())); n < 1 || n > 3 {
		t.Errorf("%d entries for 45 minutes", n)
	}
}
