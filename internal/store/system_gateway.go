package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// MostSwept is how many calls of a kind one [System.SweepGateway] ends: their rows and the sums of their hours are locked meanwhile, and
// other tenants' calls wait for none of it for long.
const MostSwept = 500

// SweepGateway ends and forgets what the gateway left: calls that nobody decided about in time, tasks that nobody asks for, calls of silent
// processes other than this one, spent allowances, and mail that nobody took; and it puts the syncs' past hours together. It returns the
// calls that ended by it: where there are as many as [MostSwept], there may be more. Any process may do it at any time.
func (s *System) SweepGateway(ctx context.Context, this connectors.InstanceID) (ended []OwnedCallID, err error) {
	if ended, err = s.endLeftCalls(ctx, this); err != nil {
		return ended, err
	}
	return ended, s.tx(ctx, func(tx *System) error {
		return tx.scope.pipelined(ctx, func(q *dbgen.Queries) error {
			for _, step := range []func(context.Context) error{
				q.LoseApprovalsOfSilentInstances, q.DropFetchedResults, q.DropOldApprovals, q.DropSpentAllowances, q.DropExpiredMail,
				q.DropOldCallHours, q.DropOldSyncHours, q.DropOldQuotaDays, q.RollSyncHours,
			} {
				if err := step(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// endLeftCalls ends the calls that nobody ends any more: each kind in a transaction of its own, which takes calls before it takes the sums of
// their hour, as whoever writes calls does. What it returns with an error has ended.
func (s *System) endLeftCalls(ctx context.Context, this connectors.InstanceID) (ended []OwnedCallID, err error) {
	note := func(t connectors.TenantID, id uuid.UUID) {
		ended = append(ended, OwnedCallID{Tenant: t, ID: connectors.ToolCallID{UUID: id}})
	}
	lapsed, err := s.q.LapseApprovals(ctx, MostSwept)
	if err != nil {
		return nil, err
	}
	for _, row := range lapsed {
		note(row.TenantID, row.ID)
	}
	lost, err := s.q.CloseCallsOfSilentInstances(ctx, &this, MostSwept)
	if err != nil {
		return nil, err
	}
	for _, row := range lost {
		note(row.TenantID, row.ID)
	}
	forgotten, err := s.q.CloseOldTasks(ctx, MostSwept)
	for _, row := range forgotten {
		note(row.TenantID, row.ID)
	}
	return ended, err
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

// SayUses tells every process that hears notices what one took of limits that all share. words hold no space, and 7000 bytes at most.
func (s *System) SayUses(ctx context.Context, t connectors.TenantID, words string) error {
	return s.q.SayUses(ctx, t.String(), words)
}

// OtherInstances counts the processes besides one.
func (s *System) OtherInstances(ctx context.Context, than connectors.InstanceID) (int, error) {
	n, err := s.q.OtherInstances(ctx, than)
	return int(n), err
}
