package toolsync

import (
	"context"
	"log/slog"

	"patchbay/internal/connectors"
)

// requests are those of the run so far.
func (r *run) requests() connectors.SyncRequests {
	list, left := r.trace.Exchanges()
	all := connectors.SyncRequests{List: make([]connectors.SyncRequest, len(list)), Left: left}
	for i, e := range list {
		all.List[i] = connectors.SyncRequest{
			Phase: string(e.Phase), Method: e.Method, Call: e.Call, Page: e.Page, Era: string(e.Era), At: e.At, Took: e.Took,
			Status: e.Status, Sent: e.Sent, Received: e.Received, Reason: string(e.Reason), RPCCode: e.RPCCode,
		}
	}
	return all
}

// keepRequests stores the requests of a run that has ended. They are for people who look at it: that they could not be stored fails
// no sync.
func (r *run) keepRequests(ctx context.Context, done connectors.SyncRun) {
	if done.FinishedAt == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if err := r.store.Tenant(r.tenant).KeepRunRequests(ctx, r.id, r.requests()); err != nil {
		r.log.WarnContext(ctx, "requests of a sync not stored", slog.String("sync_run_id", r.id.String()), slog.Any("error", err))
	}
}
