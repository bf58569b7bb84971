package toolcall

import (
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// withdrawal ends a call's wait for approval.
type withdrawal struct {
	Tenant connectors.TenantID
	Call   connectors.ToolCallID
	Reason string
	Wait   *store.WaitBudget // nil: it fails at once while the database is away
	Events []store.Event
}

// withdrawApproval ends the wait for approval. waited is false if the call was already decided.
func (ap *approvals) withdrawApproval(ctx context.Context, w *withdrawal) (waited bool, err error) {
	mayBeStored := false // by an earlier try: the reply to its commit was lost
	err = ap.o.Store.Retry(ctx, w.Wait, func(ctx context.Context) (err error) {
		waited, err = ap.storeWithdrawal(ctx, w)
		mayBeStored = mayBeStored || errors.Is(err, store.ErrCommitUnknown)
		if err == nil && !waited && mayBeStored {
			waited, err = ap.isLapsed(ctx, w)
		}
		return err
	})
	if waited && err == nil {
		ap.recorder.reportEnded(ctx, w.Tenant, w.Call)
	}
	return waited, err
}

func (ap *approvals) storeWithdrawal(ctx context.Context, w *withdrawal) (waited bool, err error) {
	err = ap.o.Store.Tenant(w.Tenant).Tx(ctx, func(tx *store.Tenant) error {
		if waited, err = tx.Calls().WithdrawApproval(ctx, w.Call); err != nil || !waited {
			return err
		}
		_, err = tx.Calls().EndPendingCall(ctx, w.Call, store.CallEnd{
			Status: connectors.CallCancelled, Outcome: connectors.OutcomeCancelled, Code: string(CodeCancelled), Message: w.Reason,
		})
		for _, e := range w.Events {
			if err == nil {
				err = tx.Audit().Record(ctx, e)
			}
		}
		return err
	})
	return waited, err
}

func (ap *approvals) isLapsed(ctx context.Context, w *withdrawal) (bool, error) {
	row, err := ap.o.Store.Tenant(w.Tenant).Calls().Approval(ctx, w.Call)
	return row.State == connectors.ApprovalLapsed, err
}
