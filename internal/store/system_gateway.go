package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// MaxSwept bounds the calls of a kind that one [SystemCalls.SweepGateway] ends: their rows and hourly sums are
// locked meanwhile.
const MaxSwept = 500

// SweepGateway ends undecided approvals, abandoned tasks and calls of dead processes other than this, and
// deletes expired allowances and mail. It also merges past hours of syncs. It returns the calls that it ended,
// at [MaxSwept] possibly not all. Any process may call it.
func (s SystemCalls) SweepGateway(ctx context.Context, this connectors.InstanceID) (ended []OwnedCallID, err error) {
	if ended, err = s.endAbandonedCalls(ctx, this); err != nil {
		return ended, err
	}
	return ended, s.inTx(ctx, func(tx *System) error {
		return tx.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
			for _, step := range []func(context.Context) error{
				q.MarkApprovalsUnknown, q.DeleteFetchedResults, q.DeleteOldApprovals, q.DeleteSpentAllowances, q.DeleteForgottenTerms, q.DeleteExpiredMail,
				q.DeleteOldCallHours, q.DeleteOldSyncHours, q.DeleteOldQuotaDays, q.RollSyncHours,
			} {
				if err := step(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// endAbandonedCalls ends calls that no process will end, each kind in its own transaction. It locks calls
// before the sums of their hour, as all writers of calls do. Calls returned with an error have ended.
func (s *system) endAbandonedCalls(ctx context.Context, this connectors.InstanceID) (ended []OwnedCallID, err error) {
	note := func(t connectors.TenantID, id uuid.UUID) {
		ended = append(ended, OwnedCallID{Tenant: t, ID: connectors.ToolCallID{UUID: id}})
	}
	lapsed, err := s.q.ExpireApprovals(ctx, MaxSwept)
	if err != nil {
		return nil, err
	}
	for _, row := range lapsed {
		note(row.TenantID, row.ID)
	}
	lost, err := s.q.CloseCallsOfSilentInstances(ctx, &this, MaxSwept)
	if err != nil {
		return nil, err
	}
	for _, row := range lost {
		note(row.TenantID, row.ID)
	}
	forgotten, err := s.q.CloseOldTasks(ctx, MaxSwept)
	for _, row := range forgotten {
		note(row.TenantID, row.ID)
	}
	return ended, err
}

// OwnedCallID is a call's id with its tenant.
type OwnedCallID struct {
	Tenant connectors.TenantID
	ID     connectors.ToolCallID
}

// AbandonedApprovals lists approved calls that no process claimed for a while, oldest first.
func (s SystemCalls) AbandonedApprovals(ctx context.Context, while time.Duration, max int) ([]OwnedCallID, error) {
	rows, err := s.q.UnclaimedApprovals(ctx, while.Seconds(), int32(max))
	if err != nil {
		return nil, err
	}
	left := make([]OwnedCallID, len(rows))
	for i, r := range rows {
		left[i] = OwnedCallID{Tenant: r.TenantID, ID: r.ID}
	}
	return left, nil
}

// ListNonemptyMailboxes returns those of the mailboxes that hold messages.
func (s SystemCalls) ListNonemptyMailboxes(ctx context.Context, boxes []string) ([]string, error) {
	return s.q.ListNonemptyMailboxes(ctx, boxes)
}

// PublishUses notifies every process of what this one consumed of shared limits. words contain no space and
// have at most 7000 bytes.
func (s SystemCalls) PublishUses(ctx context.Context, t connectors.TenantID, words string) error {
	return s.q.NotifyQuotaUses(ctx, t.String(), words)
}

// OtherInstances counts the processes except one.
func (s SystemCalls) OtherInstances(ctx context.Context, than connectors.InstanceID) (int, error) {
	n, err := s.q.OtherInstances(ctx, than)
	return int(n), err
}
