package queue

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// JobCount is the number of unfinished jobs of one kind and state.
type JobCount struct {
	Kind  string `json:"kind"`
	State string `json:"state"`
	Jobs  int    `json:"jobs"`
}

// CountJobs counts the unfinished jobs of all processes.
func CountJobs(ctx context.Context, pool *pgxpool.Pool) ([]JobCount, error) {
	rows, err := pool.Query(ctx, `
		select kind, state::text, count(*)
		from river_job
		where state in ('available', 'pending', 'retryable', 'running', 'scheduled')
		group by kind, state
		order by kind, state`)
	if err != nil {
		return nil, fmt.Errorf("count the jobs: %w", err)
	}
	counted, err := pgx.CollectRows(rows, pgx.RowToStructByPos[JobCount])
	if err != nil {
		return nil, fmt.Errorf("count the jobs: %w", err)
	}
	return counted, nil
}
