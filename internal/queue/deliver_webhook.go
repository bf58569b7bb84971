package queue

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Webhooks is the queue of what is sent to webhooks. It is apart from the tenants' queues, so that receivers that hang delay no sync.
const Webhooks = "webhooks"

// DeliverWebhook asks for one delivery to be tried until it has arrived, or until there is no further try. Round is how often it was
// tried when the job was made: a job that sleeps for hours does not keep away one that is to be worked now. Those of a sweep count below
// zero (FoundAgain).
type DeliverWebhook struct {
	TenantID   uuid.UUID `json:"tenant_id"`
	DeliveryID uuid.UUID `json:"delivery_id"`
	Round      int       `json:"round"`
}

// Kind is the job's name in the database; a landed name is never changed.
func (DeliverWebhook) Kind() string { return "deliver_webhook" }

// InsertOpts makes it the delivery's only job of its round that has not ended. That a receiver fails is no failure of the job, which then sleeps until
// the next try: the attempts are for our own mishaps.
func (DeliverWebhook) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Webhooks, MaxAttempts: 25, UniqueOpts: river.UniqueOpts{
		ByArgs: true,
		ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
		},
	}}
}

// FoundAgain is the round of the job that a sweep makes for a delivery that nobody has taken up. It differs from that of the delivery's
// own job, which looks as if it ran where its process was killed, until the queue rescues it.
func FoundAgain(tries int) int { return -1 - tries }

// TendWebhooks looks for deliveries whose jobs are lost.
type TendWebhooks struct{}

// Kind is the job's name in the database; a landed name is never changed.
func (TendWebhooks) Kind() string { return "tend_webhooks" }

// InsertOpts makes it one try: the next one comes by itself.
func (TendWebhooks) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Webhooks, MaxAttempts: 1}
}

// TendNotices looks for what people should be told by the clock, and forgets what they were told long ago.
type TendNotices struct{}

// Kind is the job's name in the database; a landed name is never changed.
func (TendNotices) Kind() string { return "tend_notices" }

// InsertOpts makes it one try: the next one comes by itself.
func (TendNotices) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Webhooks, MaxAttempts: 1}
}

// InsertDeliveriesTx inserts the jobs in one statement of the transaction. One that is there already is not inserted again.
func (i *Inserter) InsertDeliveriesTx(ctx context.Context, tx pgx.Tx, jobs ...DeliverWebhook) error {
	if len(jobs) == 0 {
		return nil
	}
	params, with := make([]river.InsertManyParams, len(jobs)), within(ctx)
	for n, job := range jobs {
		params[n] = river.InsertManyParams{Args: job, InsertOpts: with}
	}
	if _, err := i.client.InsertManyTx(ctx, tx, params); err != nil {
		return fmt.Errorf("insert %d webhook jobs: %w", len(jobs), err)
	}
	return nil
}
