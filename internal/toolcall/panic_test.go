package toolcall_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/toolcall"
)

// panicking is a process of a bench whose calls panic where they miss an account, for as long as panics is true.
func (b *bench) panicking(t testing.TB) (p *process, panics *atomic.Bool) {
	t.Helper()
	panics = &atomic.Bool{}
	panics.Store(true)
	return b.newProcess(t, b.beating(t), func(o *toolcall.Options) {
		o.Connect = func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent) string {
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
	a, other := b.trusted(t, c), b.trusted(t, c)
	b.keep(t, c, &other.ID, connectors.Secret{Token: "x"})
	b.bound(t, c, connectors.Quota{PerDay: 2})
	p, panics := b.panicking(t)
	b.process = p
	for range 3 { // what a call counts under is given back
		out, err := p.Call(t.Context(), b.order(t, p, a, c, "search", ""))
		if caught, ok := errors.AsType[*safe.Error](err); !ok || caught.Kind != safe.Call {
			t.Fatalf("error = %v", err)
		}
		if row := b.row(t, out.CallID); row.Status != connectors.CallError || row.ErrorCode != "internal" || row.CompletedAt == nil {
			t.Errorf("row = %+v", row)
		}
	}
	if n := b.counted(t); n != 0 {
		t.Errorf("%d calls count", n)
	}
	_, err := p.Call(t.Context(), b.order(t, p, other, c, "search", ""))
	must(t, err)
	panics.Store(false)
	_, err = p.Call(t.Context(), b.order(t, p, a, c, "search", ""))
	wantRefused(t, err, toolcall.CodeCredentialRequired)
	p.stop() // no call is waited for
}

// TestApprovedCall_PanicMarksItFailed has a call panic that nobody waits for.
func TestApprovedCall_PanicMarksItFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, _ := b.panicking(t)
	b.process = p
	c := b.connector(t, b.remote, perAgent)
	a := b.granted(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
	b.keep(t, c, &a.ID, connectors.Secret{Token: "x"})
	_, err := b.impatient(t, p, a, c)
	wantRefused(t, err, toolcall.CodeApprovalPending)
	id := b.theOne(t)
	must(t, b.Door().DeleteCredential(t.Context(), c.ID, &a.ID)) // it panics now
	b.approve(t, p, id)
	p.Caller.Stop(t.Context()) // the call has ended
	row, err := b.Door().Approval(t.Context(), id)
	must(t, err)
	if row.State != connectors.ApprovalDone {
		t.Errorf("the approval is %s", row.State)
	}
	if row := b.row(t, id); row.Status != connectors.CallError || row.ErrorCode != "internal" {
		t.Errorf("row = %+v", row)
	}
}
