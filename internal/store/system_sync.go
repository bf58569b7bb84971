package store

import (
	"context"

	"github.com/google/uuid"

	"patchbay/internal/queue"
)

// QueueDue queues a sync of at most max connectors that are due by their interval, the longest due first, and says how many
// it claimed: fewer than max means that no more are due. Replicas may call it at the same time; each connector is claimed once.
func (s *System) QueueDue(ctx context.Context, max int) (int, error) {
	claimed := 0
	err := s.tx(ctx, func(tx *System) error {
		due, err := tx.q.ClaimDue(ctx, int32(max))
		if err != nil || len(due) == 0 {
			return err
		}
		claimed = len(due)
		tenants, ids, targets := make([]uuid.UUID, claimed), make([]uuid.UUID, claimed), make([]uuid.UUID, claimed)
		for i, c := range due {
			tenants[i], ids[i], targets[i] = c.TenantID.UUID, newID(), c.ID.UUID
		}
		rows, err := tx.q.QueueDueRuns(ctx, tenants, ids, targets)
		if err != nil {
			return err
		}
		jobs := make([]queue.SyncTools, len(rows))
		for i, r := range rows {
			jobs[i] = queue.SyncTools{TenantID: r.TenantID.UUID, ConnectorID: r.ConnectorID.UUID, SyncRunID: r.ID.UUID}
		}
		return classify(tx.jobs.InsertTx(ctx, tx.scope.tx, jobs...))
	})
	return claimed, err
}
