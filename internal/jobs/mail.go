package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"patchbay/internal/connectors"
	"patchbay/internal/mailing"
	"patchbay/internal/queue"
)

const (
	// maxMails bounds the concurrent mails of a process.
	maxMails = 8
	// mailTimeout exceeds the timeout of a mail.
	mailTimeout = 30 * time.Second
	// newsInterval bounds the delay of a mail about a call that waits for approval.
	newsInterval = 15 * time.Second
)

// Mail adds the workers of e-mail. Without an SMTP server queued mails are dropped.
func Mail(m *mailing.Service) Module {
	return func(workers *river.Workers, config *river.Config) error {
		config.Queues[queue.Mail] = river.QueueConfig{MaxWorkers: maxMails}
		if m.Enabled() {
			config.PeriodicJobs = append(config.PeriodicJobs, newPeriodicJob(newsInterval, queue.MailNews{}))
		}
		return errors.Join(
			river.AddWorkerSafely(workers, &MailResetWorker{mailing: m}),
			river.AddWorkerSafely(workers, &MailMemberWorker{mailing: m}),
			river.AddWorkerSafely(workers, &MailNewsWorker{mailing: m}))
	}
}

// MailResetWorker mails links to set a new password.
type MailResetWorker struct {
	river.WorkerDefaults[queue.MailReset]
	mailing *mailing.Service
}

// Timeout implements river.Worker.
func (w *MailResetWorker) Timeout(*river.Job[queue.MailReset]) time.Duration { return mailTimeout }

// Work mails the links of an address.
func (w *MailResetWorker) Work(ctx context.Context, job *river.Job[queue.MailReset]) error {
	if !w.mailing.Enabled() {
		return nil
	}
	return w.mailing.SendResets(ctx, job.Args.Address, job.Args.Language)
}

// MailMemberWorker mails a member their news.
type MailMemberWorker struct {
	river.WorkerDefaults[queue.MailMember]
	mailing *mailing.Service
}

// Timeout implements river.Worker.
func (w *MailMemberWorker) Timeout(*river.Job[queue.MailMember]) time.Duration { return mailTimeout }

// Work mails what is still news.
func (w *MailMemberWorker) Work(ctx context.Context, job *river.Job[queue.MailMember]) error {
	if !w.mailing.Enabled() {
		return nil
	}
	return w.mailing.SendNews(ctx, connectors.TenantID{UUID: job.Args.TenantID}, connectors.UserID{UUID: job.Args.UserID}, job.Args.Since)
}

// MailNewsWorker queues mails for members with news.
type MailNewsWorker struct {
	river.WorkerDefaults[queue.MailNews]
	mailing *mailing.Service
}

// Timeout implements river.Worker.
func (w *MailNewsWorker) Timeout(*river.Job[queue.MailNews]) time.Duration { return newsInterval }

// Work queues them.
func (w *MailNewsWorker) Work(ctx context.Context, _ *river.Job[queue.MailNews]) error {
	if !w.mailing.Enabled() {
		return nil
	}
	return w.mailing.QueueNews(ctx)
}
