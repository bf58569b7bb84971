package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// freeDeadJobs frees the running jobs of dead processes. River itself would wait for the longest job timeout,
// half an hour. Jobs on their last attempt are discarded. Every kind tolerates a second execution, for a dead
// process may be alive. A process that is not registered as alive frees nothing.
func (r *jobRescuer) freeDeadJobs(ctx context.Context, alive []uuid.UUID) (int, error) {
	if !slices.Contains(alive, r.self) {
		return 0, nil
	}
	aliveIDs := make([]string, len(alive))
	for i, id := range alive {
		aliveIDs[i] = id.String()
	}
	// The interval spares processes that have fetched a job before their first heartbeat.
	rows, err := r.pool.Query(ctx, `
		update river_job
		set state = case when attempt < max_attempts then 'available' else 'discarded' end::river_job_state,
		    finalized_at = case when attempt < max_attempts then null else now() end,
		    scheduled_at = now(),
		    errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', 'Its process died.', 'trace', ''))
		where state = 'running' and attempted_at < now() - interval '10 seconds'
		  and attempted_by[array_upper(attempted_by, 1)] <> all($1::text[])
		returning queue`, aliveIDs)
	if err != nil {
		return 0, fmt.Errorf("release jobs of dead processes: %w", err)
	}
	queues, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(queues) == 0 {
		return 0, err
	}
	r.log.InfoContext(ctx, "jobs of dead processes released", slog.Int("jobs", len(queues)))
	slices.Sort(queues)
	return len(queues), r.notifier.notifyQueues(ctx, slices.Compact(queues))
}
