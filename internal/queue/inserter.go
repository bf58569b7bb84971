package queue

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"patchbay/internal/tracing"
)

// Inserter inserts jobs and works none.
type Inserter struct {
	client *river.Client[pgx.Tx]
}

// NewInserter returns an Inserter. The pool serves only the client's set-up: jobs are inserted in the caller's
// transactions.
func NewInserter(pool *pgxpool.Pool) (*Inserter, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger:        slog.New(slog.DiscardHandler),
		FetchCooldown: river.FetchCooldownMin, // else a job that follows another at once is not announced
	})
	if err != nil {
		return nil, fmt.Errorf("set up the job inserter: %w", err)
	}
	return &Inserter{client: client}, nil
}

// traceOpts adds the trace of ctx to a job's metadata; nil: no trace. Options of the job's kind still apply.
func traceOpts(ctx context.Context) *river.InsertOpts {
	if meta := tracing.Carry(ctx).Meta(); meta != nil {
		return &river.InsertOpts{Metadata: meta}
	}
	return nil
}

// InsertTx inserts the jobs in one statement of the transaction.
func (i *Inserter) InsertTx(ctx context.Context, tx pgx.Tx, jobs ...SyncTools) error {
	if len(jobs) == 0 {
		return nil
	}
	params, opts := make([]river.InsertManyParams, len(jobs)), traceOpts(ctx)
	for n, job := range jobs {
		params[n] = river.InsertManyParams{Args: job, InsertOpts: opts}
	}
	if _, err := i.client.InsertManyFastTx(ctx, tx, params); err != nil {
		return fmt.Errorf("insert %d sync jobs: %w", len(jobs), err)
	}
	return nil
}
