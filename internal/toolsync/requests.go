package toolsync

import (
	"context"
	"log/slog"

	"patchbay/internal/connectors"
)

// collectRequests returns the HTTP requests of the run so far.
func (r *run) collectRequests() connectors.SyncRequests {
	list, omitted := r.trace.Exchanges()
	all := connectors.SyncRequests{List: make([]connectors.SyncRequest, len(list)), Left: omitted}
	for i, e := range list {
		all.List[i] = connectors.SyncRequest{
			Phase: string(e.Phase), Method: e.Method, Call: e.Call, Page: e.Page, Era: string(e.Era), At: e.At, Took: e.Took,
			Status: e.Status, Sent: e.Sent, Received: e.Received, Reason: string(e.Reason), RPCCode: e.RPCCode,
		}
	}
	return all
}

// storeRequests stores the requests of a finished run for display. A failure does not fail the sync.
func (r *run) storeRequests(ctx context.Context, done connectors.SyncRun) {
	if done.FinishedAt == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if err := r.store.Tenant(r.tenant).Syncs().SaveRunRequests(ctx, r.id, r.collectRequests()); err != nil {
		r.log.WarnContext(ctx, "requests of a sync not stored", slog.String("sync_run_id", r.id.String()), slog.Any("error", err))
	}
}
