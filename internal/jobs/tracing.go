package jobs

import (
	"context"
	"slices"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"patchbay/internal/queue"
	"patchbay/internal/tracing"
)

// tracedKinds are the kinds of requested jobs. Syncs started by the clock have traces of their own.
var tracedKinds = []string{queue.SyncTools{}.Kind(), queue.DeliverWebhook{}.Kind()}

// traceMiddleware works a job in the trace of the request that queued it.
func traceMiddleware(t *tracing.Tracer) []rivertype.Middleware {
	if t == nil {
		return nil
	}
	return []rivertype.Middleware{river.WorkerMiddlewareFunc(func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		if !slices.Contains(tracedKinds, job.Kind) {
			return work(ctx)
		}
		ctx, span := t.Begin(tracing.InMeta(job.Metadata).Within(ctx), "job "+job.Kind, tracing.Worker)
		defer span.End()
		span.Text(tracing.Job, job.Kind)
		err := work(ctx)
		if _, snoozed := err.(*rivertype.JobSnoozeError); err != nil && !snoozed { //nolint:errorlint // River gives it out as it is
			span.Fail("failed")
		}
		return err
	})}
}
