package toolsync

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// listing is a list of tools as it arrived, whole.
type listing struct {
	tools       []connectors.Definition
	quarantined []connectors.Quarantined
	hash        connectors.Hash
}

// save stores what differs. The list arrived whole, so that it is stored even where the process is about to stop.
func (r *run) save(ctx context.Context, list mcp.ToolList) (connectors.SyncRun, error) {
	return r.keep(ctx, r.digest(context.WithoutCancel(ctx), list))
}

// digest reads what was listed, and stores the items: all is there when the run has ended.
func (r *run) digest(ctx context.Context, list mcp.ToolList) listing {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	var l listing
	l.tools, l.quarantined = definitions(list)
	l.quarantined = append(l.quarantined, r.offer.aside...)
	r.saveItems(ctx, r.offer)
	r.seen.Total, r.seen.Quarantined = len(l.tools), len(l.quarantined)
	l.hash = connectors.ListHash(l.tools, l.quarantined)
	return l
}

// keep ends the run with what was listed.
func (r *run) keep(ctx context.Context, l listing) (connectors.SyncRun, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	st := r.store.Tenant(r.tenant)
	unchanged, done, err := st.FinishUnchanged(ctx, r.id, l.hash, r.seen)
	if err != nil || unchanged {
		return done, err
	}
	diff, err := r.compare(ctx, st, l.tools)
	if err != nil {
		return done, err
	}
	return st.FinishSync(ctx, r.id, r.result(l, diff))
}

func (r *run) result(l listing, diff connectors.ToolDiff) store.SyncResult {
	return store.SyncResult{Seen: r.seen, ListHash: l.hash, Diff: diff, Definitions: l.tools, Quarantined: l.quarantined}
}

// compare tells what is different from what is known, as of one moment.
func (r *run) compare(ctx context.Context, st *store.Tenant, tools []connectors.Definition) (diff connectors.ToolDiff, err error) {
	err = st.Snapshot(ctx, func(tx *store.Tenant) error {
		diff, err = r.compareIn(ctx, tx, tools)
		return err
	})
	return diff, err
}

func (r *run) compareIn(ctx context.Context, st *store.Tenant, tools []connectors.Definition) (connectors.ToolDiff, error) {
	base, err := st.SyncBase(ctx, r.connector.ID)
	if err != nil {
		return connectors.ToolDiff{}, err
	}
	c := connectors.Comparison{
		Old: base.Tools, List: tools, Policy: r.connector.ToolChanges, First: base.ListHash == nil,
		Instructions: base.Instructions, Says: r.seen.Server.Instructions,
	}
	if hashes := c.AcceptedNeeded(); len(hashes) > 0 {
		if c.Accepted, err = st.Definitions(ctx, hashes); err != nil {
			return connectors.ToolDiff{}, err
		}
	}
	if c.Names, err = otherTools(ctx, st, r.connector.ID, c); err != nil {
		return connectors.ToolDiff{}, err
	}
	return connectors.Diff(c), nil
}

func definitions(list mcp.ToolList) ([]connectors.Definition, []connectors.Quarantined) {
	tools := make([]connectors.Definition, len(list.Tools))
	for i, t := range list.Tools {
		tools[i] = connectors.Definition{Name: t.Name, Raw: t.Raw, Hash: connectors.HashDefinition(t.Raw)}
	}
	quarantined := make([]connectors.Quarantined, len(list.Quarantined))
	for i, q := range list.Quarantined {
		quarantined[i] = connectors.Quarantined{Name: q.Name, Reason: q.Reason, Raw: q.Raw}
	}
	return tools, quarantined
}

// failure is what is told and stored of a run that failed with err.
func (r *run) failure(ctx context.Context, err error) *fault.Error {
	if errors.Is(context.Cause(ctx), errStopped) {
		return &fault.Error{
			Kind: fault.Unavailable, Code: CodeInterrupted, Message: "The server stopped during this sync.", Err: err,
		}
	}
	return fault.As(err)
}

// close stores the end of a run that failed, now or, where the database does not answer, as soon as it does.
func (s *Syncer) close(
	ctx context.Context, tenant connectors.TenantID, id connectors.SyncRunID, f *fault.Error, seen store.Seen,
) connectors.SyncRun {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	l := leftover{tenant: tenant, run: id, seen: seen, err: syncError(f)}
	done, err := s.fail(ctx, l)
	if err != nil && !over(err) {
		s.log.ErrorContext(ctx, "end of a sync not stored yet", slog.String("sync_run_id", id.String()), slog.Any("error", err))
		s.heart.later(l)
	}
	return done
}

func (s *Syncer) fail(ctx context.Context, l leftover) (connectors.SyncRun, error) {
	return s.store.Tenant(l.tenant).FailSync(ctx, l.run, l.err, l.seen)
}

// syncError is what is stored of a failure.
func syncError(f *fault.Error) connectors.SyncError {
	e := connectors.SyncError{Code: code(f), Message: f.Message, At: time.Now()}
	e.Temporary = f.Remote != nil && f.Remote.Retryable || f.Kind != fault.Upstream
	e.RetryAfter = time.Duration(f.RetryAfter) * time.Second
	return e
}

// over tells whether a run needs no closing any more: it is gone, or has ended.
func over(err error) bool { return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) }

// code is the reason that is stored for a failed run.
func code(f *fault.Error) string {
	switch {
	case f.Code != "":
		return f.Code
	case f.Type == "credential-required":
		return codeCredential
	default:
		return codeInternal
	}
}
