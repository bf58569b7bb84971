package store

import (
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Beat says that a process is alive and which keys it has, which it reads again where they have changed, and closes the runs
// of those that have been silent for more than six seconds (SweepGateway their calls); a process that could not beat itself just now waits before it
// judges others. A process beats every two seconds or so.
func (s *System) Beat(ctx context.Context, id connectors.InstanceID) error {
	generation, behind := s.keys.catchUp(ctx) // with older keys it lives on, and a rotation waits for it
	return errors.Join(behind, s.beat(ctx, id, generation))
}

func (s *System) beat(ctx context.Context, id connectors.InstanceID, generation int) error {
	return s.tx(ctx, func(tx *System) error {
		return tx.scope.pipelined(ctx, func(q *dbgen.Queries) error {
			if err := q.Beat(ctx, id, int32(generation), s.keys.kek.ID()); err != nil {
				return err
			}
			if err := q.ForgetSilentInstances(ctx, id); err != nil {
				return err
			}
			return q.CloseRunsOfSilentInstances(ctx, &id)
		})
	})
}

// EndInstance says that a process stops, and closes the runs and the calls that it leaves.
func (s *System) EndInstance(ctx context.Context, id connectors.InstanceID) error {
	return s.tx(ctx, func(tx *System) error {
		return tx.scope.pipelined(ctx, func(q *dbgen.Queries) error {
			if err := q.CloseRunsOf(ctx, &id); err != nil {
				return err
			}
			if err := q.CloseCallsOf(ctx, &id); err != nil {
				return err
			}
			return q.EndInstance(ctx, id)
		})
	})
}

// ForgetInstances closes all running runs and calls. It is for the start on an embedded database, when no other process can be alive.
func (s *System) ForgetInstances(ctx context.Context) error {
	return s.tx(ctx, func(tx *System) error {
		return tx.scope.pipelined(ctx, func(q *dbgen.Queries) error {
			if err := q.CloseAllRuns(ctx); err != nil {
				return err
			}
			if err := q.CloseAllCalls(ctx); err != nil {
				return err
			}
			return q.ForgetInstances(ctx)
		})
	})
}
