package store

import (
	"context"

	"patchbay/internal/store/dbgen"
)

// SweepGateway ends and forgets what the gateway left: calls that nobody decided about in time, approved ones whose process died in
// the middle, spent allowances, and mail that nobody took. Any process may do it at any time.
func (s *System) SweepGateway(ctx context.Context) error {
	return s.tx(ctx, func(tx *System) error {
		return tx.scope.pipelined(ctx, func(q *dbgen.Queries) error {
			for _, step := range []func(context.Context) error{
				q.LapseApprovals, q.LoseApprovalsOfSilentInstances, q.DropOldApprovals, q.CloseOldTasks, q.DropSpentAllowances, q.DropExpiredMail,
			} {
				if err := step(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
