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

// soonAgain is when a connector is due again whose sync came to nothing by our own fault.
const soonAgain = 10 * time.Second

// insistTime is how long a sync waits for a database that is away.
const insistTime = time.Minute

// claimed is a scheduled sync. It has a row among the runs only where it has something to tell.
type claimed struct {
	run
	claim store.Claim
	began time.Time
}

// syncClaimed takes a claimed connector to its end, and gives it free.
func (s *Syncer) syncClaimed(ctx context.Context, c store.Claim, at *stand) {
	switch away, err := at.sit(ctx); {
	case errors.Is(err, errBusy):
		s.ends.putOff(ctx, store.Ended{Claim: c, Wait: away})
		return
	case err != nil:
		return // the process stops
	}
	heard, leave := sync.OnceFunc(at.heard), sync.OnceFunc(at.leave)
	defer leave() // also where what follows panics
	defer heard()
	r := &claimed{run: run{Syncer: s, tenant: c.Tenant, connector: c.Connector, quiet: true, known: knownOf(c)}, claim: c, began: time.Now()}
	ctx, span := s.beginSpan(ctx, c.Tenant, connectors.TriggerSchedule)
	describeSync(ctx, c.Connector)
	found, err := r.read(ctx)
	defer func() { endSpan(span, r.id, len(found.tools), err) }()
	heard()
	if err == nil && !c.Plain(found.hash, r.seen) {
		r.tell(ctx, found)
		return
	}
	leave() // what follows is waiting for others to end, too
	r.end(ctx, found, err)
}

// read talks to the server. Where its tools are others, what else is known of it may be, too, and it is asked. A panic is a failure like
// any other.
func (r *claimed) read(ctx context.Context) (found listing, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	list, err := r.talk(ctx)
	if err != nil {
		return listing{}, err
	}
	found = r.digest(context.WithoutCancel(ctx), list)
	if !r.recalled || r.claim.ToolsHash != nil && *r.claim.ToolsHash == found.hash {
		return found, nil
	}
	r.known = nil
	if list, err = r.talk(ctx); err != nil {
		return listing{}, err
	}
	return r.digest(context.WithoutCancel(ctx), list), nil
}

// end stores that nothing changed, or the failure.
func (r *claimed) end(ctx context.Context, found listing, err error) {
	e := store.Ended{Claim: r.claim, Began: r.began, Took: time.Since(r.began), Seen: r.seen, ListHash: found.hash}
	run := connectors.SyncRun{ConnectorID: r.connector.ID, Trigger: connectors.TriggerSchedule, State: connectors.SyncOK, StartedAt: &r.began}
	switch f := fault.As(err); {
	case err == nil:
		r.ends.unchanged(ctx, e)
	case errors.Is(context.Cause(ctx), errStopped):
		return // the claim ends with the process
	case f.Kind == fault.Unavailable && f.Remote == nil && f.Code == "":
		r.log.WarnContext(ctx, "scheduled sync put off", slog.String("connector_id", r.connector.ID.String()), slog.Any("error", err))
		e.Wait = soonAgain
		r.ends.putOff(ctx, e)
		return
	default:
		e.Error, e.Requests = syncError(f), r.requests()
		r.ends.failed(ctx, e)
		run.State, run.ErrorCode, run.ErrorMessage = connectors.SyncFailed, e.Error.Code, e.Error.Message
	}
	ended := r.began.Add(e.Took)
	run.FinishedAt = &ended
	r.finished(run)
	r.feed.send(r.tenant, Progress{Connector: r.connector.ID, Done: true})
	r.logClaimed(ctx, e, err)
}

// tell stores what is new.
func (r *claimed) tell(ctx context.Context, found listing) {
	leave, err := r.saves.take(ctx, r.tenant)
	if err != nil {
		return // the process stops
	}
	defer leave()
	r.id = store.NewSyncRunID()
	if known := r.claim.ToolsHash; known != nil && *known == found.hash {
		r.restore(ctx, found)
		return
	}
	done, err := r.finish(ctx, found)
	switch {
	case fault.Is(err, fault.NotFound): // the connector is gone, or we were taken for dead
	case err != nil:
		r.end(ctx, found, err)
	default:
		r.finished(done)
		r.feed.send(r.tenant, Progress{Connector: r.connector.ID, Run: r.id, Done: true})
		r.logEnd(ctx, done, nil, time.Since(r.began))
	}
}

// finish stores a list that differs, with its run.
func (r *claimed) finish(ctx context.Context, found listing) (done connectors.SyncRun, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return step(ctx, "store", func(ctx context.Context) (done connectors.SyncRun, err error) {
		err = r.insists(ctx, func() (err error) { done, err = r.differ(ctx, found); return err })
		return done, err
	})
}

func (r *claimed) differ(ctx context.Context, l listing) (connectors.SyncRun, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	st := r.store.Tenant(r.tenant)
	diff, err := r.compare(ctx, st, l.tools)
	if err != nil {
		return connectors.SyncRun{}, err
	}
	return st.FinishClaimed(ctx, store.ClaimedRun{ID: r.id, Claim: r.claim, Began: r.began}, r.result(l, diff))
}

// restore gives the sync a run where the list is known, and something else is new: it works again, or the server is another one.
func (r *claimed) restore(ctx context.Context, found listing) {
	err := r.insists(ctx, func() error { return r.start(ctx) })
	switch {
	case fault.Is(err, fault.NotFound): // the connector is gone, or we were taken for dead
		return
	case err != nil:
		r.end(ctx, found, fault.Wrap(fault.Unavailable, err, "The sync could not be stored."))
		return
	}
	done, _ := r.concluded(ctx, r.began, func() (connectors.SyncRun, error) { // a failure is in the run, and logged
		var run connectors.SyncRun
		err := r.insists(ctx, func() (err error) { run, err = r.keep(ctx, found); return err })
		return run, err
	})
	if done.FinishedAt != nil {
		r.finished(done)
	}
}

// insists stores something, also where the database is away for a while: the list is here, and the server need not be asked again.
func (r *claimed) insists(ctx context.Context, store func() error) error {
	late := time.After(insistTime)
	for {
		err := store()
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-late:
			return err
		case <-time.After(endPause):
		}
	}
}

func (r *claimed) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	_, err := r.store.Tenant(r.tenant).StartClaimed(ctx, r.claim, r.id, r.began)
	return err
}

// logClaimed says what is new: of a connector that goes on failing as before, or on being what it was, nothing.
func (r *claimed) logClaimed(ctx context.Context, e store.Ended, err error) {
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
