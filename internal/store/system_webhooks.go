package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store/dbgen"
)

// SweepNotices deletes old notices and deliveries. Any process may call it.
func (s *System) SweepNotices(ctx context.Context) error {
	return s.inTx(ctx, func(tx *System) error {
		return tx.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
			if err := q.DeleteOldNotices(ctx); err != nil {
				return err
			}
			return q.DeleteOldDeliveries(ctx)
		})
	})
}

// RequeueOverdue queues a new job for deliveries unclaimed for a while, at most max, and returns their number.
// A job of a killed process looks as if it still ran, so both may run: the claim decides.
func (s *System) RequeueOverdue(ctx context.Context, while time.Duration, max int) (int, error) {
	found := 0
	err := s.inTx(ctx, func(tx *System) error {
		rows, err := tx.q.OverdueDeliveries(ctx, while.Seconds(), int32(max))
		if err != nil {
			return err
		}
		found = len(rows)
		jobs := make([]queue.DeliverWebhook, len(rows))
		for i, r := range rows {
			jobs[i] = queue.DeliverWebhook{TenantID: r.TenantID.UUID, DeliveryID: r.ID.UUID, Round: queue.FoundAgain(int(r.Tries))}
		}
		return classifyError(tx.jobs.InsertDeliveriesTx(ctx, tx.scope.tx, jobs...))
	})
	return found, err
}

// NoticeLapsing adds notices for accounts that expire within a time and that only a person can renew, once per
// period; at most max. It returns their number.
func (s *System) NoticeLapsing(ctx context.Context, within time.Duration, max int) (int, error) {
	found := 0
	err := s.inTx(ctx, func(tx *System) error {
		rows, err := tx.q.ExpiringAccounts(ctx, within.Seconds(), int32(max))
		if err != nil {
			return err
		}
		found = len(rows)
		for _, r := range rows {
			of := connectors.ConnectorName{ID: r.ConnectorID, Slug: r.ConnectorSlug, Name: r.Connector}
			account := connectors.NoticeAccount{Agent: connectors.AgentName{Slug: r.AgentSlug, Name: r.Agent}, Name: r.AccountName}
			n := connectors.LapsingNotice(r.ID, of, account, r.LapsesAt)
			if err := (noticeWriter{id: r.TenantID, scope: tx.scope, q: tx.q, jobs: tx.jobs}).add(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}
