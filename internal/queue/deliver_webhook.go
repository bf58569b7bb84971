package queue

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Webhooks is the queue of webhook deliveries. It is separate from the tenants' queues, so that hung receivers
// delay no sync.
const Webhooks = "webhooks"

// DeliverWebhook tries one delivery until it arrives or its tries are used up. Round is the number of tries
// when the job was inserted, so that a snoozed job does not exclude one that is due now. Rounds of the sweep
// are negative (see FoundAgain).
type DeliverWebhook struct {
	TenantID   uuid.UUID `json:"tenant_id"`
	DeliveryID uuid.UUID `json:"delivery_id"`
	Round      int       `json:"round"`
}

// Kind is stored in the database and never changes.
func (DeliverWebhook) Kind() string { return "deliver_webhook" }

// InsertOpts makes the job unique for its delivery and round. A receiver's failure snoozes the job; the
// attempts count our own failures.
func (DeliverWebhook) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Webhooks, MaxAttempts: 25, UniqueOpts: river.UniqueOpts{
		ByArgs: true,
		ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
		},
	}}
}

// FoundAgain is the round of the sweep's job for a delivery without progress. It differs from the round of the
// delivery's own job, which counts as running after its process was killed, until it is rescued.
func FoundAgain(tries int) int { return -1 - tries }

// RequeueDeliveries inserts jobs for deliveries that lost their jobs.
type RequeueDeliveries struct{}

// Kind is stored in the database and never changes.
func (RequeueDeliveries) Kind() string { return "tend_webhooks" }

// InsertOpts allows one attempt: the job is periodic.
func (RequeueDeliveries) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Webhooks, MaxAttempts: 1}
}

// UpdateNotices inserts notices that depend on time and deletes old ones.
type UpdateNotices struct{}

// Kind is stored in the database and never changes.
func (UpdateNotices) Kind() string { return "tend_notices" }

// InsertOpts allows one attempt: the job is periodic.
func (UpdateNotices) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Webhooks, MaxAttempts: 1}
}

// InsertDeliveriesTx inserts the jobs in one statement of the transaction and skips existing ones.
func (i *Inserter) InsertDeliveriesTx(ctx context.Context, tx pgx.Tx, jobs ...DeliverWebhook) error {
	if len(jobs) == 0 {
		return nil
	}
	params, opts := make([]river.InsertManyParams, len(jobs)), traceOpts(ctx)
	for n, job := range jobs {
		params[n] = river.InsertManyParams{Args: job, InsertOpts: opts}
	}
	if _, err := i.client.InsertManyTx(ctx, tx, params); err != nil {
		return fmt.Errorf("insert %d webhook jobs: %w", len(jobs), err)
	}
	return nil
}
