package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Mail is the queue of e-mail. It is separate, so that a hung SMTP server delays nothing else.
const Mail = "mail"

// MailReset sends links to set a new password to an address. Its tokens are made when it is sent, so that none is
// stored.
type MailReset struct {
	Address  string `json:"address"`
	Language string `json:"language"`
}

// Kind is stored in the database and never changes.
func (MailReset) Kind() string { return "mail_reset" }

// InsertOpts excludes a second mail to the address while one waits.
func (MailReset) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Mail, MaxAttempts: 5, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinishedStates}}
}

// MailMember sends a member the notices since a time.
type MailMember struct {
	TenantID uuid.UUID `json:"tenant_id"`
	UserID   uuid.UUID `json:"user_id"`
	Since    time.Time `json:"since"`
}

// Kind is stored in the database and never changes.
func (MailMember) Kind() string { return "mail_member" }

// InsertOpts allows attempts over about an hour.
func (MailMember) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Mail, MaxAttempts: 8}
}

// MailNews finds the members to write to.
type MailNews struct{}

// Kind is stored in the database and never changes.
func (MailNews) Kind() string { return "mail_news" }

// InsertOpts allows one attempt: the job is periodic.
func (MailNews) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Mail, MaxAttempts: 1} }

var unfinishedStates = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
}

// InsertMailTx inserts jobs of [Mail] in one statement of the transaction.
func (i *Inserter) InsertMailTx(ctx context.Context, tx pgx.Tx, jobs ...river.JobArgs) error {
	if len(jobs) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, len(jobs))
	for n, job := range jobs {
		params[n] = river.InsertManyParams{Args: job}
	}
	if _, err := i.client.InsertManyTx(ctx, tx, params); err != nil {
		return fmt.Errorf("insert %d mail jobs: %w", len(jobs), err)
	}
	return nil
}
