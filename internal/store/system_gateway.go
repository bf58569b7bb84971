package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// SweepGateway ends and forgets what the gateway left: calls that nobody decided about in time, approved ones whose process died in
// the middle, spent allowances, and mail that nobody took; and it puts the syncs' past hours together. Any process may do it at any time.
func (s *System) SweepGateway(ctx context.Context) error {
	return s.tx(ctx, func(tx *System) error {
		return tx.scope.pipelined(ctx, func(q *dbgen.Queries) error {
			for _, step := range []func(context.Context) error{
				q.LapseApprovals, q.LoseApprovalsOfSilentInstances, q.DropFetchedResults, q.DropOldApprovals, q.CloseOldTasks, q.DropSpentAllowances, q.DropExpiredMail,
				q.DropOldCallHours, q.DropOldSyncHours, q.RollSyncHours,
			} {
				if err := step(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// OwnedCallID names a call with its tenant.
type OwnedCallID struct {
	Tenant connectors.TenantID
	ID     connectors.ToolCallID
}

// LeftApprovals are approved calls that nobody has taken up for a while, the longest left first.
func (s *System) LeftApprovals(ctx context.Context, while time.Duration, max int) ([]OwnedCallID, error) {
	rows, err := s.q.LeftApprovals(ctx, while.Seconds(), int32(max))
	if err != nil {
		return nil, err
	}
	left := make([]OwnedCallID, len(rows))
	for i, r := range rows {
		left[i] = OwnedCallID{Tenant: r.TenantID, ID: r.ID}
	}
	return left, nil
}
