package toolcall_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/testing/paniclog"
	"patchbay/internal/toolcall"
)

// newPanickingProcess is a process that panics on a missing account, while panics is true.
func (b *bench) newPanickingProcess(t testing.TB) (p *process, panics *atomic.Bool) {
	t.Helper()
	panics = &atomic.Bool{}
	panics.Store(true)
	return b.newProcess(t, b.newInstance(t), func(o *toolcall.Options) {
		o.ConnectURL = func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent, string) string {
			if panics.Load() {
				panic("of a test")
			}
			return ""
		}
	}), panics
}

func TestCall_PanicEndsThatCallAlone(t *testing.T) {
	t.Parallel()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote, perAgent)
	a, other := b.newTrustedAgent(t, c), b.newTrustedAgent(t, c)
	b.saveCredential(t, c, &other.ID, connectors.Secret{Token: "x"})
	b.setQuota(t, c, connectors.Quota{PerDay: 2})
	p, panics := b.newPanickingProcess(t)
	b.process = p
	for range 3 { // each refunds its quota
		out, err := p.Call(t.Context(), b.order(t, p, a, c, "search", ""))
		if caught, ok := errors.AsType[*safe.Error](err); !ok || caught.Kind != safe.Call {
			t.Fatalf("error = %v", err)
		}
		if row := b.row(t, out.CallID); row.Status != connectors.CallError || row.ErrorCode != "internal" || row.CompletedAt == nil {
			t.Errorf("row = %+v", row)
		}
	}
	if n := b.countedCalls(t); n != 0 {
		t.Errorf("%d calls count", n)
	}
	_, err := p.Call(t.Context(), b.order(t, p, other, c, "search", ""))
	must(t, err)
	panics.Store(false)
	_, err = p.Call(t.Context(), b.order(t, p, a, c, "search", ""))
	wantRefused(t, err, toolcall.CodeCredentialRequired)
	p.stop() // all calls have ended
}

func TestApprovedCall_PanicMarksItFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, _ := b.newPanickingProcess(t)
	b.process = p
	c := b.connector(t, b.remote, perAgent)
	a := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	b.saveCredential(t, c, &a.ID, connectors.Secret{Token: "x"})
	_, err := b.callNoWait(t, p, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	id := b.onlyWaiting(t)
	must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, &a.ID, "")) // a missing account panics
	b.approve(t, p, id)
	p.Executor.Stop(t.Context()) // waits for the call
	row, err := b.Door().Calls().Approval(t.Context(), id)
	must(t, err)
	if row.State != connectors.ApprovalDone {
		t.Errorf("the approval is %s", row.State)
	}
	if row := b.row(t, id); row.Status != connectors.CallError || row.ErrorCode != "internal" {
		t.Errorf("row = %+v", row)
	}
}

// The loop panics that counts calls under quotas.
func TestQuotaCount_PanicLosesNoCalls(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	b := newQuotaBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.setQuota(t, c, connectors.Quota{PerDay: 3})
	_, err := b.call(t, a, c, "")
	must(t, err)
	waitForPanic := b.PanicBelow(t, "(*callLimits).exchangeUses", 1)
	b.process.Executor.Start(t.Context())
	waitForPanic()
	panics.Want(t, safe.Background, "(*callLimits).exchangeUses")
	if n := b.countedCalls(t); n != 1 {
		t.Errorf("%d calls count", n)
	}
	if n, _ := b.callUntilQuota(t, b.process, a, c); n != 2 {
		t.Errorf("%d more calls are allowed", n)
	}
}

// The saving of progress panics while the call goes on.
func TestProgress_PanicKeepsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	call := b.startProgressCall(t)
	call.send(`"progress":1,"total":2`)
	b.row(t, call.id) // after its beginning is stored
	b.PanicBelow(t, "(*progressSaver).saveProgress", 1)
	if err := safe.Try(safe.Background, func() error { b.SaveProgress(); return nil })(); !safe.IsPanic(err) {
		t.Errorf("error = %v", err)
	}
	b.SaveProgress()
	if diff := cmp.Diff(&connectors.CallProgress{Done: new(1.0), Total: 2}, b.row(t, call.id).Progress); diff != "" {
		t.Error(diff)
	}
	call.finish()
	must(t, receive(t, call.ended))
}
