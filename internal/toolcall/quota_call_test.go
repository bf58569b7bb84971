package toolcall_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// counted is how many calls of the day count under the bench's only quota.
func (b *bench) counted(t testing.TB) (calls int) {
	t.Helper()
	b.CountQuotas(t.Context())
	for _, u := range b.used(t) {
		calls += u.Calls
	}
	return calls
}

// askingUnder is like asking, with a quota.
func askingUnder(t *testing.T, q connectors.Quota) (*bench, connectors.Connector, connectors.Agent) {
	t.Helper()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	b.bound(t, c, q)
	return b, c, b.granted(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
}

func TestACallThatWaitsForAPersonCountsOnceAndItsResultIsFetchedWhenTheDayIsUsedUp(t *testing.T) {
	t.Parallel()
	b, c, a := askingUnder(t, connectors.Quota{PerDay: 1})
	for range 3 {
		_, err := b.impatient(t, b.process, a, c)
		wantRefused(t, err, toolcall.CodeApprovalPending)
	}
	if n := b.counted(t); n != 1 {
		t.Errorf("%d calls count", n)
	}
	other := b.order(t, b.process, a, c, "search", `{"q":"another"}`)
	other.Impatient = true
	_, err := b.Call(t.Context(), other)
	wantRefused(t, err, toolcall.CodeQuotaExceeded)
	b.approve(t, b.process, b.theOne(t))
	<-b.remote.arrived
	_, err = b.call(t, a, c, `{"q":"x"}`)
	must(t, err)
	b.remote.wantCalls(t, 1)
}

func TestACallThatIsDeniedIsGivenBackToItsDay(t *testing.T) {
	t.Parallel()
	b, c, a := askingUnder(t, connectors.Quota{PerDay: 1})
	_, err := b.impatient(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	_, err = b.Decide(t.Context(), b.actor(connectors.RoleMember), b.theOne(t), toolcall.Decision{})
	must(t, err)
	if n := b.counted(t); n != 0 {
		t.Errorf("%d calls count", n)
	}
	list, err := b.Inbox(t.Context(), b.actor(connectors.RoleViewer), store.Page{})
	must(t, err)
	if len(list.Items) != 0 {
		t.Errorf("%d calls wait", len(list.Items))
	}
}

func TestACallThatMissesAnAccountIsGivenBackToItsDay(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote, perAgent)
	a := b.trusted(t, c)
	b.bound(t, c, connectors.Quota{PerDay: 1})
	for range 2 {
		_, err := b.call(t, a, c, "")
		wantRefused(t, err, toolcall.CodeCredentialRequired)
	}
	if n := b.counted(t); n != 0 {
		t.Errorf("%d calls count", n)
	}
}
