package store

import (
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Heartbeat records that a process is alive and its key generation, and reloads changed keys. It closes the
// runs of processes silent for more than six seconds; SweepGateway closes their calls. After a gap of its own
// it waits before it judges others. The interval is about two seconds.
func (s SystemSyncs) Heartbeat(ctx context.Context, id connectors.InstanceID) error {
	generation, behind := s.keys.reloadIfChanged(ctx) // with older keys it stays alive, and a rotation waits for it
	return errors.Join(behind, s.recordHeartbeat(ctx, id, generation))
}

func (s *system) recordHeartbeat(ctx context.Context, id connectors.InstanceID, generation int) error {
	return s.inTx(ctx, func(tx *System) error {
		return tx.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
			if err := q.RecordHeartbeat(ctx, id, int32(generation), s.keys.kek.ID()); err != nil {
				return err
			}
			if err := q.DeleteSilentInstances(ctx, id); err != nil {
				return err
			}
			return q.CloseRunsOfSilentInstances(ctx, &id)
		})
	})
}

// EndInstance records that a process stops, and closes its runs and calls.
func (s SystemSyncs) EndInstance(ctx context.Context, id connectors.InstanceID) error {
	return s.inTx(ctx, func(tx *System) error {
		if err := tx.q.CloseRunsOfInstance(ctx, &id); err != nil {
			return err
		}
		if err := tx.Calls().CloseInstanceCalls(ctx, id); err != nil {
			return err
		}
		return tx.q.EndInstance(ctx, id)
	})
}

// CloseAllInstances closes all running runs and calls. It is for the start on an embedded database, where no
// other process can be alive.
func (s SystemSyncs) CloseAllInstances(ctx context.Context) error {
	return s.inTx(ctx, func(tx *System) error {
		if err := tx.q.CloseAllRuns(ctx); err != nil {
			return err
		}
		if err := closeCalls(func() (int64, error) { return tx.q.CloseAllCalls(ctx, maxLinkCalls) }); err != nil {
			return err
		}
		return tx.q.DeleteInstances(ctx)
	})
}
