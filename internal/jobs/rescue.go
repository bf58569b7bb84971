package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// rescue frees the jobs of processes that are dead, as River itself would, which waits for the longest job that there is: half an hour. They
// are worked again where they may be; those that were on their last try have failed. Each kind bears that it is worked twice: a process that is
// taken for dead may be alive. Who is not known to be alive itself knows nothing of the others.
func (t *tender) rescue(ctx context.Context, alive []uuid.UUID) (int, error) {
	if !slices.Contains(alive, t.self) {
		return 0, nil
	}
	living := make([]string, len(alive))
	for i, id := range alive {
		living[i] = id.String()
	}
	// Who has just fetched one may not be known yet.
	rows, err := t.pool.Query(ctx, `
		update river_job
		set state = case when attempt < max_attempts then 'available' else 'discarded' end::river_job_state,
		    finalized_at = case when attempt < max_attempts then null else now() end,
		    scheduled_at = now(),
		    errors = array_append(errors, jsonb_build_object('at', now(), 'attempt', attempt, 'error', 'Its process died.', 'trace', ''))
		where state = 'running' and attempted_at < now() - interval '10 seconds'
		  and attempted_by[array_upper(attempted_by, 1)] <> all($1::text[])
		returning queue`, living)
	if err != nil {
		return 0, fmt.Errorf("free the jobs of dead processes: %w", err)
	}
	queues, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(queues) == 0 {
		return 0, err
	}
	t.log.InfoContext(ctx, "jobs of dead processes are free again", slog.Int("jobs", len(queues)))
	slices.Sort(queues)
	return len(queues), t.back.call(ctx, slices.Compact(queues))
}
