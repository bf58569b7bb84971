package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store"
	"patchbay/internal/webhooks"
)

const (
	// deliveriesAtOnce is how many deliveries a process has under way. How many of one host or tenant package webhooks says.
	deliveriesAtOnce = 32
	// deliveryTimeout is past the end of a try, which bounds itself.
	deliveryTimeout = 30 * time.Second
	// tendEvery is how often lost deliveries are looked for, and overdue how late a delivery is that counts as lost. A job that waits
	// for a place is no reason for a second one.
	tendEvery = time.Minute
	overdue   = time.Minute
	// tellEvery is how often it is looked what people should be told by the clock. foresight is how far ahead accounts are foretold, as
	// the dashboard's forecast does.
	tellEvery = 5 * time.Minute
	foresight = 72 * time.Hour
	// tendBatch bounds one transaction.
	tendBatch = 200
)

// Part adds workers, with their queues and periodic jobs, to those of the syncs.
type Part func(workers *river.Workers, config *river.Config) error

// Webhooks works what is sent to webhooks, and the sweeps that go with it.
func Webhooks(post *webhooks.Post, system *store.System, log *slog.Logger) Part {
	return func(workers *river.Workers, config *river.Config) error {
		config.Queues[queue.Webhooks] = river.QueueConfig{MaxWorkers: deliveriesAtOnce}
		config.PeriodicJobs = append(config.PeriodicJobs,
			river.NewPeriodicJob(river.PeriodicInterval(tendEvery),
				func() (river.JobArgs, *river.InsertOpts) { return queue.TendWebhooks{}, nil }, &river.PeriodicJobOpts{RunOnStart: true}),
			river.NewPeriodicJob(river.PeriodicInterval(tellEvery),
				func() (river.JobArgs, *river.InsertOpts) { return queue.TendNotices{}, nil }, &river.PeriodicJobOpts{RunOnStart: true}))
		return errors.Join(
			river.AddWorkerSafely(workers, &DeliverWebhookWorker{post: post}),
			river.AddWorkerSafely(workers, &TendWebhooksWorker{system: system, log: log}),
			river.AddWorkerSafely(workers, &TendNoticesWorker{system: system}))
	}
}

// DeliverWebhookWorker tries deliveries.
type DeliverWebhookWorker struct {
	river.WorkerDefaults[queue.DeliverWebhook]
	post *webhooks.Post
}

// Timeout bounds one try.
func (w *DeliverWebhookWorker) Timeout(*river.Job[queue.DeliverWebhook]) time.Duration {
	return deliveryTimeout
}

// Work tries one delivery, and sleeps until the next try where there is one.
func (w *DeliverWebhookWorker) Work(ctx context.Context, job *river.Job[queue.DeliverWebhook]) error {
	again, err := w.post.Deliver(ctx, connectors.TenantID{UUID: job.Args.TenantID}, connectors.DeliveryID{UUID: job.Args.DeliveryID})
	if err == nil && again > 0 {
		return river.JobSnooze(again)
	}
	return err
}

// TendWebhooksWorker gives deliveries whose jobs are lost new ones.
type TendWebhooksWorker struct {
	river.WorkerDefaults[queue.TendWebhooks]
	system *store.System
	log    *slog.Logger
}

// Timeout ends a sweep before the next begins.
func (w *TendWebhooksWorker) Timeout(*river.Job[queue.TendWebhooks]) time.Duration { return tendEvery }

// Work looks once. Those beyond the batch are found by the next sweep, which is soon enough for what should not happen.
func (w *TendWebhooksWorker) Work(ctx context.Context, _ *river.Job[queue.TendWebhooks]) error {
	n, err := w.system.RequeueOverdue(ctx, overdue, tendBatch)
	if n > 0 {
		w.log.InfoContext(ctx, "webhook deliveries that nobody had taken up are queued again", "deliveries", n)
	}
	return err
}

// TendNoticesWorker tells of accounts that lapse and of connectors that are down or work again, and forgets what is too old.
type TendNoticesWorker struct {
	river.WorkerDefaults[queue.TendNotices]
	system *store.System
}

// Timeout bounds one sweep.
func (w *TendNoticesWorker) Timeout(*river.Job[queue.TendNotices]) time.Duration {
	return tellEvery
}

// Work tells a batch of each, and of accounts all that there are.
func (w *TendNoticesWorker) Work(ctx context.Context, _ *river.Job[queue.TendNotices]) error {
	if err := w.system.SweepNotices(ctx); err != nil {
		return err
	}
	if _, err := w.system.NoticeConditions(ctx, connectors.DeadAfter, tendBatch); err != nil {
		return err
	}
	for {
		n, err := w.system.NoticeLapsing(ctx, foresight, tendBatch)
		if err != nil || n < tendBatch {
			return err
		}
	}
}
