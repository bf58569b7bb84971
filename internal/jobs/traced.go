package jobs

import (
	"context"
	"slices"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"patchbay/internal/queue"
	"patchbay/internal/tracing"
)

// asked are the kinds of jobs that somebody asked for. Those of the clock have nothing to tell: the syncs that they begin are traces of
// their own.
var asked = []string{queue.SyncTools{}.Kind(), queue.DeliverWebhook{}.Kind()}

// traced has the work of a job be a part of the trace of whoever queued it.
func traced(t *tracing.Tracer) []rivertype.Middleware {
	if t == nil {
		return nil
	}
	return []rivertype.Middleware{river.WorkerMiddlewareFunc(func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		if !slices.Contains(asked, job.Kind) {
			return work(ctx)
		}
		ctx, span := t.Begin(tracing.InMeta(job.Metadata).Within(ctx), "job "+job.Kind, tracing.Worker)
		defer span.End()
		span.Text(tracing.Job, job.Kind)
		err := work(ctx)
		if _, later := err.(*rivertype.JobSnoozeError); err != nil && !later { //nolint:errorlint // River gives it out as it is
			span.Fail("failed")
		}
		return err
	})}
}
