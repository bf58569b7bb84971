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

// save stores what differs; the items first, so that all is there when the run has ended. The list arrived whole, so that it is stored even where the process is about to stop.
func (r *run) save(ctx context.Context, list mcp.ToolList) (connectors.SyncRun, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	tools, quarantined := definitions(list)
	r.saveItems(ctx, r.offer)
	r.seen.Total, r.seen.Quarantined = len(tools), len(quarantined)
	hash := connectors.ListHash(tools, quarantined)

	st := r.store.Tenant(r.tenant)
	unchanged, done, err := st.FinishUnchanged(ctx, r.id, hash, r.seen)
	if err != nil || unchanged {
		return done, err
	}
	diff, err := r.compare(ctx, st, tools)
	if err != nil {
		return done, err
	}
	return st.FinishSync(ctx, r.id, store.SyncResult{
		Seen: r.seen, ListHash: hash, Diff: diff, Definitions: tools, Quarantined: quarantined,
	})
}

func (r *run) compare(ctx context.Context, st *store.Tenant, tools []connectors.Definition) (connectors.ToolDiff, error) {
	known, states, err := st.SyncBase(ctx, r.connector.ID)
	if err != nil {
		return connectors.ToolDiff{}, err
	}
	c := connectors.Comparison{Old: states, List: tools, Policy: r.connector.ToolChanges, First: known == nil}
	if hashes := c.AcceptedNeeded(); len(hashes) > 0 {
		if c.Accepted, err = st.Definitions(ctx, hashes); err != nil {
			return connectors.ToolDiff{}, err
		}
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
			Kind: fault.Unavailable, Code: codeInterrupted, Message: "The server stopped during this sync.", Err: err,
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
	l := leftover{tenant: tenant, run: id, seen: seen, err: connectors.SyncError{Code: code(f), Message: f.Message, At: time.Now()}}
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
