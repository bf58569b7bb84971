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
	// maxDeliveries bounds the concurrent deliveries of a process. Package webhooks bounds those of a host and
	// a tenant.
	maxDeliveries = 32
	// deliveryTimeout exceeds a try, which has its own timeout.
	deliveryTimeout = 30 * time.Second
	// requeueInterval is the interval of looking for lost deliveries; overdueAfter is the delay after which a
	// delivery counts as lost. A job that waits for a slot is not lost.
	requeueInterval = time.Minute
	overdueAfter    = time.Minute
	// noticeInterval is the interval of notices that depend on time. lapseHorizon is how far ahead lapsing
	// accounts are announced, as in the dashboard's forecast.
	noticeInterval = time.Minute
	lapseHorizon   = 72 * time.Hour
	// noticeBatch bounds one transaction, in rows.
	noticeBatch = 200
)

// Module adds workers, queues and periodic jobs to a Runner.
type Module func(workers *river.Workers, config *river.Config) error

// Webhooks adds the workers of deliveries and notices.
func Webhooks(post *webhooks.Post, system *store.System, log *slog.Logger) Module {
	return func(workers *river.Workers, config *river.Config) error {
		config.Queues[queue.Webhooks] = river.QueueConfig{MaxWorkers: maxDeliveries}
		config.PeriodicJobs = append(config.PeriodicJobs,
			newPeriodicJob(requeueInterval, queue.RequeueDeliveries{}), newPeriodicJob(noticeInterval, queue.UpdateNotices{}))
		return errors.Join(
			river.AddWorkerSafely(workers, &DeliverWebhookWorker{post: post}),
			river.AddWorkerSafely(workers, &RequeueDeliveriesWorker{system: system, log: log}),
			river.AddWorkerSafely(workers, &UpdateNoticesWorker{system: system}))
	}
}

// DeliverWebhookWorker sends one delivery of a webhook.
type DeliverWebhookWorker struct {
	river.WorkerDefaults[queue.DeliverWebhook]
	post *webhooks.Post
}

// Timeout implements river.Worker.
func (w *DeliverWebhookWorker) Timeout(*river.Job[queue.DeliverWebhook]) time.Duration {
	return deliveryTimeout
}

// Work tries one delivery and snoozes until the next try.
func (w *DeliverWebhookWorker) Work(ctx context.Context, job *river.Job[queue.DeliverWebhook]) error {
	retryAfter, err := w.post.Deliver(ctx, connectors.TenantID{UUID: job.Args.TenantID}, connectors.DeliveryID{UUID: job.Args.DeliveryID})
	if err == nil && retryAfter > 0 {
		return river.JobSnooze(retryAfter)
	}
	return err
}

// RequeueDeliveriesWorker inserts new jobs for deliveries that lost their jobs.
type RequeueDeliveriesWorker struct {
	river.WorkerDefaults[queue.RequeueDeliveries]
	system *store.System
	log    *slog.Logger
}

// Timeout implements river.Worker.
func (w *RequeueDeliveriesWorker) Timeout(*river.Job[queue.RequeueDeliveries]) time.Duration {
	return requeueInterval
}

// Work requeues one batch. The next sweep finds the rest.
func (w *RequeueDeliveriesWorker) Work(ctx context.Context, _ *river.Job[queue.RequeueDeliveries]) error {
	n, err := w.system.RequeueOverdue(ctx, overdueAfter, noticeBatch)
	if n > 0 {
		w.log.InfoContext(ctx, "unclaimed webhook deliveries queued again", "deliveries", n)
	}
	return err
}

// UpdateNoticesWorker adds notices of lapsing accounts and of connectors that fail or recover, and deletes old
// ones.
type UpdateNoticesWorker struct {
	river.WorkerDefaults[queue.UpdateNotices]
	system *store.System
}

// Timeout implements river.Worker.
func (w *UpdateNoticesWorker) Timeout(*river.Job[queue.UpdateNotices]) time.Duration {
	return noticeInterval
}

// Work adds one batch of connector notices and all notices of accounts.
func (w *UpdateNoticesWorker) Work(ctx context.Context, _ *river.Job[queue.UpdateNotices]) error {
	if err := w.system.SweepNotices(ctx); err != nil {
		return err
	}
	if _, err := w.system.NoticeConditions(ctx, noticeBatch); err != nil {
		return err
	}
	for {
		n, err := w.system.NoticeLapsing(ctx, lapseHorizon, noticeBatch)
		if err != nil || n < noticeBatch {
			return err
		}
	}
}
