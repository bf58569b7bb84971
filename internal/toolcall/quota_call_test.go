package toolcall_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// countedCalls is today's count of the bench's only quota.
func (b *bench) countedCalls(t testing.TB) (calls int) {
	t.Helper()
	b.CountQuotas(t.Context())
	for _, u := range b.quotaUses(t) {
		calls += u.Calls
	}
	return calls
}

// newQuotaApprovalBench is newApprovalBench with a quota.
func newQuotaApprovalBench(t *testing.T, q connectors.Quota) (*bench, connectors.Connector, connectors.Agent) {
	t.Helper()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	b.setQuota(t, c, q)
	return b, c, b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
}

func TestQuota_ApprovedCallCountsOnceAndIsFetchable(t *testing.T) {
	t.Parallel()
	b, c, a := newQuotaApprovalBench(t, connectors.Quota{PerDay: 1})
	for range 3 {
		_, err := b.callNoWait(t, b.process, a, c)
		wantRefused(t, err, toolcall.CodeApprovalPending)
	}
	if n := b.countedCalls(t); n != 1 {
		t.Errorf("%d calls count", n)
	}
	other := b.order(t, b.process, a, c, "search", `{"q":"another"}`)
	other.NoWait = true
	_, err := b.Call(t.Context(), other)
	wantRefused(t, err, toolcall.CodeQuotaExceeded)
	b.approve(t, b.process, b.onlyWaiting(t))
	receive(t, b.remote.arrived)
	_, err = b.call(t, a, c, `{"q":"x"}`)
	must(t, err)
	b.remote.wantCalls(t, 1)
}

func TestQuota_DeniedCallIsRefunded(t *testing.T) {
	t.Parallel()
	b, c, a := newQuotaApprovalBench(t, connectors.Quota{PerDay: 1})
	_, err := b.callNoWait(t, b.process, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	_, err = b.Decide(t.Context(), b.actor(connectors.RoleMember), b.onlyWaiting(t), toolcall.Decision{})
	must(t, err)
	if n := b.countedCalls(t); n != 0 {
		t.Errorf("%d calls count", n)
	}
	list, err := b.ListPendingApprovals(t.Context(), b.actor(connectors.RoleViewer), store.Page{})
	must(t, err)
	if len(list.Items) != 0 {
		t.Errorf("%d calls wait", len(list.Items))
	}
}

func TestQuota_MissingAccountIsRefunded(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote, perAgent)
	a := b.newTrustedAgent(t, c)
	b.setQuota(t, c, connectors.Quota{PerDay: 1})
	for range 2 {
		_, err := b.call(t, a, c, "")
		wantRefused(t, err, toolcall.CodeCredentialRequired)
	}
	if n := b.countedCalls(t); n != 0 {
		t.Errorf("%d calls count", n)
	}
}
