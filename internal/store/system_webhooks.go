package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store/dbgen"
)

// SweepNotices forgets notices and deliveries that are too old. Any process may do it at any time.
func (s *System) SweepNotices(ctx context.Context) error {
	return s.tx(ctx, func(tx *System) error {
		return tx.scope.pipelined(ctx, func(q *dbgen.Queries) error {
			if err := q.DropOldNotices(ctx); err != nil {
				return err
			}
			return q.DropOldDeliveries(ctx)
		})
	})
}

// RequeueOverdue gives deliveries that nobody has taken up for a while a job again, at most max, and says how many it found. Where the
// first job is there all the same, it goes on beside it, and the claim decides: a job whose process was killed before it claimed looks
// as if it ran.
func (s *System) RequeueOverdue(ctx context.Context, while time.Duration, max int) (int, error) {
	found := 0
	err := s.tx(ctx, func(tx *System) error {
		rows, err := tx.q.OverdueDeliveries(ctx, while.Seconds(), int32(max))
		if err != nil {
			return err
		}
		found = len(rows)
		jobs := make([]queue.DeliverWebhook, len(rows))
		for i, r := range rows {
			jobs[i] = queue.DeliverWebhook{TenantID: r.TenantID.UUID, DeliveryID: r.ID.UUID, Round: queue.FoundAgain(int(r.Tries))}
		}
		return classify(tx.jobs.InsertDeliveriesTx(ctx, tx.scope.tx, jobs...))
	})
	return found, err
}

// NoticeLapsing tells of accounts that end within a time and that nobody but a person can renew, each once in that time; at most max. It
// says how many it found.
func (s *System) NoticeLapsing(ctx context.Context, within time.Duration, max int) (int, error) {
	found := 0
	err := s.tx(ctx, func(tx *System) error {
		rows, err := tx.q.LapsingAccounts(ctx, within.Seconds(), int32(max))
		if err != nil {
			return err
		}
		found = len(rows)
		for _, r := range rows {
			of := connectors.ConnectorName{ID: r.ConnectorID, Slug: r.ConnectorSlug, Name: r.Connector}
			n := connectors.LapsingNotice(r.ID, of, connectors.AgentName{Slug: r.AgentSlug, Name: r.Agent}, r.LapsesAt)
			if err := (teller{id: r.TenantID, scope: tx.scope, q: tx.q, jobs: tx.jobs}).add(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}
