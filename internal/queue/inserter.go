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

// Inserter puts jobs into the database. It works none.
type Inserter struct {
	client *river.Client[pgx.Tx]
}

// NewInserter makes an Inserter. Its pool is used for nothing but the client's set-up: jobs go through the caller's transactions.
func NewInserter(pool *pgxpool.Pool) (*Inserter, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger:        slog.New(slog.DiscardHandler),
		FetchCooldown: river.FetchCooldownMin, // else a job that comes a moment after another one is not announced, however late it commits
	})
	if err != nil {
		return nil, fmt.Errorf("set up the job inserter: %w", err)
	}
	return &Inserter{client: client}, nil
}

// within has a job go on with the trace that ctx belongs to; nil: it is not traced. What else a job's kind says of its insertion holds.
func within(ctx context.Context) *river.InsertOpts {
	if meta := tracing.Carry(ctx).Meta(); meta != nil {
		return &river.InsertOpts{Metadata: meta}
	}
	return nil
}

// InsertTx inserts the jobs in one statement of the transaction. They can be worked once it commits.
func (i *Inserter) InsertTx(ctx context.Context, tx pgx.Tx, jobs ...SyncTools) error {
	if len(jobs) == 0 {
		return nil
	}
	params, with := make([]river.InsertManyParams, len(jobs)), within(ctx)
	for n, job := range jobs {
		params[n] = river.InsertManyParams{Args: job, InsertOpts: with}
	}
	if _, err := i.client.InsertManyFastTx(ctx, tx, params); err != nil {
		return fmt.Errorf("insert %d sync jobs: %w", len(jobs), err)
	}
	return nil
}
