package toolsync

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// retryDelay is the delay of a sync that failed for a reason of ours.
const retryDelay = 10 * time.Second

// maxStoreRetry bounds how long a sync waits for the database.
const maxStoreRetry = time.Minute

// scheduledRun is a scheduled sync. It gets a row in sync_runs only if something changed.
type scheduledRun struct {
	run
	claim     store.Claim
	startedAt time.Time
}

// syncClaimed syncs a claimed connector and releases its claim.
func (s *Syncer) syncClaimed(ctx context.Context, c store.Claim, slot *hostSlot) {
	switch retryAfter, err := slot.wait(ctx); {
	case errors.Is(err, errHostBusy):
		s.outcomes.recordPostponed(ctx, store.ClaimEnd{Claim: c, Wait: retryAfter})
		return
	case err != nil:
		return // the process stops
	}
	markIdle, release := sync.OnceFunc(slot.markIdle), sync.OnceFunc(slot.release)
	defer release() // also after a panic
	defer markIdle()
	r := &scheduledRun{run: run{Syncer: s, tenant: c.Tenant, connector: c.Connector, suppressProgress: true, cachedInfo: cachedServerInfo(c)}, claim: c, startedAt: time.Now()}
	ctx, span := s.beginSpan(ctx, c.Tenant, connectors.TriggerSchedule)
	describeSync(ctx, c.Connector)
	list, err := r.fetchListing(ctx)
	defer func() { endSpan(span, r.id, len(list.tools), err) }()
	markIdle()
	if err == nil && !c.IsUnchanged(list.hash, r.observation) {
		r.recordRun(ctx, list)
		return
	}
	release() // recordOutcome waits for other syncs
	r.recordOutcome(ctx, list, err)
}

// fetchListing lists the tools. If they changed while cached server info was used, it lists again without the
// cache, for the server may have changed too. A panic is returned as an error.
func (r *scheduledRun) fetchListing(ctx context.Context) (found listing, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	list, err := r.fetchTools(ctx)
	if err != nil {
		return listing{}, err
	}
	found = r.hashAndSaveItems(context.WithoutCancel(ctx), list)
	if !r.usedCachedInfo || r.claim.ToolsHash != nil && *r.claim.ToolsHash == found.hash {
		return found, nil
	}
	r.cachedInfo = nil
	if list, err = r.fetchTools(ctx); err != nil {
		return listing{}, err
	}
	return r.hashAndSaveItems(context.WithoutCancel(ctx), list), nil
}

// recordOutcome stores that nothing changed, or the failure.
func (r *scheduledRun) recordOutcome(ctx context.Context, list listing, err error) {
	outcome := store.ClaimEnd{Claim: r.claim, Began: r.startedAt, Took: time.Since(r.startedAt), Seen: r.observation, ListHash: list.hash}
	run := connectors.SyncRun{ConnectorID: r.connector.ID, Trigger: connectors.TriggerSchedule, State: connectors.SyncOK, StartedAt: &r.startedAt}
	switch f := fault.As(err); {
	case err == nil:
		r.outcomes.recordUnchanged(ctx, outcome)
	case errors.Is(context.Cause(ctx), errStopped):
		return // the claim ends with the process
	case f.Kind == fault.Unavailable && f.Remote == nil && f.Code == "":
		r.log.WarnContext(ctx, "scheduled sync postponed", slog.String("connector_id", r.connector.ID.String()), slog.Any("error", err))
		outcome.Wait = retryDelay
		r.outcomes.recordPostponed(ctx, outcome)
		return
	default:
		outcome.Error, outcome.Requests = newSyncError(f), r.collectRequests()
		r.outcomes.recordFailed(ctx, outcome)
		run.State, run.ErrorCode, run.ErrorMessage = connectors.SyncFailed, outcome.Error.Code, outcome.Error.Message
	}
	ended := r.startedAt.Add(outcome.Took)
	run.FinishedAt = &ended
	r.finished(run)
	r.feed.send(r.tenant, Progress{Connector: r.connector.ID, Done: true})
	r.logOutcome(ctx, outcome, err)
}

// recordRun stores a run for what changed.
func (r *scheduledRun) recordRun(ctx context.Context, list listing) {
	if r.saves.Acquire(ctx, r.tenant) != nil {
		return // the process stops
	}
	defer r.saves.Release(r.tenant)
	r.id = store.NewSyncRunID()
	if known := r.claim.ToolsHash; known != nil && *known == list.hash {
		r.recordKnownList(ctx, list)
		return
	}
	done, err := r.storeListing(ctx, list)
	switch {
	case fault.Is(err, fault.NotFound): // the connector is deleted, or this process counts as dead
	case err != nil:
		r.recordOutcome(ctx, list, err)
	default:
		r.finished(done)
		r.feed.send(r.tenant, Progress{Connector: r.connector.ID, Run: r.id, Done: true})
		r.logFinished(ctx, done, nil, time.Since(r.startedAt))
	}
}

// storeListing stores a changed list and its run.
func (r *scheduledRun) storeListing(ctx context.Context, list listing) (done connectors.SyncRun, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	return traceStep(ctx, "store", func(ctx context.Context) (done connectors.SyncRun, err error) {
		err = r.retryStore(ctx, func() (err error) { done, err = r.storeDiff(ctx, list); return err })
		return done, err
	})
}

func (r *scheduledRun) storeDiff(ctx context.Context, l listing) (done connectors.SyncRun, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	st := r.store.Tenant(r.tenant)
	err = retryOutdated(ctx, func() error {
		diff, err := r.compareTools(ctx, st, l.tools)
		if err == nil {
			done, err = st.Syncs().FinishClaimed(ctx, store.ClaimedRun{ID: r.id, Claim: r.claim, Began: r.startedAt}, r.newSyncResult(l, diff))
		}
		return err
	})
	return done, err
}

// recordKnownList stores a run for an unchanged list when something else changed: the sync works again, or the
// server differs.
func (r *scheduledRun) recordKnownList(ctx context.Context, list listing) {
	err := r.retryStore(ctx, func() error { return r.startRun(ctx) })
	switch {
	case fault.Is(err, fault.NotFound): // the connector is deleted, or this process counts as dead
		return
	case err != nil:
		r.recordOutcome(ctx, list, fault.Wrap(fault.Unavailable, err, "The sync couldn't be stored."))
		return
	}
	done, _ := r.runAndRecord(ctx, r.startedAt, func() (connectors.SyncRun, error) { // the run holds the failure, which is logged
		var run connectors.SyncRun
		err := r.retryStore(ctx, func() (err error) { run, err = r.finishRun(ctx, list); return err })
		return run, err
	})
	if done.FinishedAt != nil {
		r.finished(done)
	}
}

// retryStore retries store through a database outage, so that the server need not be asked again.
func (r *scheduledRun) retryStore(ctx context.Context, store func() error) error {
	deadline := time.After(maxStoreRetry)
	for {
		err := store()
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-deadline:
			return err
		case <-time.After(storeRetryDelay):
		}
	}
}

func (r *scheduledRun) startRun(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	_, err := r.store.Tenant(r.tenant).Syncs().StartClaimed(ctx, r.claim, r.id, r.startedAt)
	return err
}

// logOutcome logs changes: a new failure at level warn, everything else at level debug.
func (r *scheduledRun) logOutcome(ctx context.Context, e store.ClaimEnd, err error) {
	level, known := slog.LevelDebug, r.connector.LastError
	if err != nil && (known == nil || known.Code != e.Error.Code) {
		level = slog.LevelWarn
	}
	if !r.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("tenant_id", r.tenant.String()),
		slog.String("connector_id", r.connector.ID.String()),
		slog.Int64("duration_ms", e.Took.Milliseconds()),
	}
	if err == nil {
		r.log.LogAttrs(ctx, level, "scheduled sync found nothing new", attrs...)
		return
	}
	r.log.LogAttrs(ctx, level, "scheduled sync failed", append(attrs, slog.String("reason", e.Error.Code), slog.Any("error", err))...)
}
