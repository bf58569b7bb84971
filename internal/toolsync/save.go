package toolsync

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// listing is a complete list of tools.
type listing struct {
	tools       []connectors.Definition
	quarantined []connectors.Quarantined
	hash        connectors.Hash
}

// saveTools stores the differences. It ignores cancellation, for the list is complete.
func (r *run) saveTools(ctx context.Context, list mcp.ToolList) (connectors.SyncRun, error) {
	return r.finishRun(ctx, r.hashAndSaveItems(context.WithoutCancel(ctx), list))
}

// hashAndSaveItems hashes the list and stores the items, so that both are there when the run ends.
func (r *run) hashAndSaveItems(ctx context.Context, list mcp.ToolList) listing {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	var l listing
	l.tools, l.quarantined = toDefinitions(list)
	l.quarantined = slices.Concat(l.quarantined, r.items.quarantined, r.skills.quarantined)
	r.saveItems(ctx, r.items)
	r.saveSkills(ctx, r.skills)
	r.saveIcon(ctx)
	r.observation.Total, r.observation.Quarantined = len(l.tools), len(l.quarantined)
	l.hash = connectors.ListHash(l.tools, l.quarantined)
	return l
}

// finishRun stores the list and ends the run.
func (r *run) finishRun(ctx context.Context, l listing) (connectors.SyncRun, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	st := r.store.Tenant(r.tenant)
	unchanged, done, err := st.Syncs().FinishUnchanged(ctx, r.id, l.hash, r.observation)
	if err != nil || unchanged {
		return done, err
	}
	err = retryOutdated(ctx, func() error {
		diff, err := r.compareTools(ctx, st, l.tools)
		if err == nil {
			done, err = st.Syncs().Finish(ctx, r.id, r.newSyncResult(l, diff))
		}
		return err
	})
	return done, err
}

// maxComparisons bounds how often a list is compared because people decided meanwhile.
const maxComparisons = 20

// retryOutdated compares and stores a list again while the result is outdated, see [store.ErrOutdated].
func retryOutdated(ctx context.Context, compareAndStore func() error) error {
	for n := 1; ; n++ {
		err := compareAndStore()
		if !errors.Is(err, store.ErrOutdated) || n == maxComparisons || ctx.Err() != nil {
			return err
		}
	}
}

func (r *run) newSyncResult(l listing, diff connectors.ToolDiff) store.SyncResult {
	return store.SyncResult{ServerObservation: r.observation, ListHash: l.hash, Diff: diff, Definitions: l.tools, Quarantined: l.quarantined}
}

// compareTools compares the list with the known tools. The comparison holds no database connection.
func (r *run) compareTools(ctx context.Context, st *store.Tenant, tools []connectors.Definition) (connectors.ToolDiff, error) {
	var c connectors.Comparison
	err := st.Snapshot(ctx, func(tx *store.Tenant) (err error) {
		c, err = r.readComparison(ctx, tx, tools)
		return err
	})
	if err != nil {
		return connectors.ToolDiff{}, err
	}
	c.Done = ctx.Done()
	diff := connectors.Diff(c)
	return diff, ctx.Err() // a diff that ctx ended is incomplete
}

// readComparison reads what the comparison of a list needs.
func (r *run) readComparison(ctx context.Context, st *store.Tenant, tools []connectors.Definition) (connectors.Comparison, error) {
	base, err := st.Syncs().Baseline(ctx, r.connector.ID)
	if err != nil {
		return connectors.Comparison{}, err
	}
	c := connectors.Comparison{
		Old: base.Tools, List: tools, Policy: base.Policy, First: base.ListHash == nil,
		Instructions: base.Instructions, ServerInstructions: r.observation.Server.Instructions,
	}
	if c.Origins, err = r.readOrigins(ctx, st, c.First); err != nil {
		return connectors.Comparison{}, err
	}
	if hashes := c.AcceptedNeeded(); len(hashes) > 0 {
		if c.Accepted, err = st.Tools().Definitions(ctx, hashes); err != nil {
			return connectors.Comparison{}, err
		}
	}
	if c.Names, err = readOtherTools(ctx, st.Tools(), r.connector.ID, c); err != nil {
		return connectors.Comparison{}, err
	}
	return c, nil
}

func toDefinitions(list mcp.ToolList) ([]connectors.Definition, []connectors.Quarantined) {
	tools := make([]connectors.Definition, 0, len(list.Tools))
	quarantined := make([]connectors.Quarantined, 0, len(list.Quarantined))
	for _, q := range list.Quarantined {
		quarantined = append(quarantined, connectors.Quarantined{Name: q.Name, Reason: q.Reason, Raw: q.Raw})
	}
	for _, t := range list.Tools {
		if _, isSkill := connectors.SkillOfTool(t.Name); isSkill {
			quarantined = append(quarantined, connectors.Quarantined{Name: &t.Name, Reason: "Patchbay uses names that begin with skill: for skills.", Raw: t.Raw})
			continue
		}
		tools = append(tools, connectors.Definition{Name: t.Name, Raw: t.Raw, Hash: connectors.HashDefinition(t.Raw)})
	}
	return tools, quarantined
}

// classifyFailure returns the fault to store and report for a run that failed with err.
func (r *run) classifyFailure(ctx context.Context, err error) *fault.Error {
	if errors.Is(context.Cause(ctx), errStopped) {
		return &fault.Error{
			Kind: fault.Unavailable, Code: CodeInterrupted, Message: "Patchbay stopped during this sync.", Err: err,
		}
	}
	return fault.As(err)
}

// recordFailure stores the end of a failed run, or leaves it to the heartbeat while the database is
// unavailable.
func (s *Syncer) recordFailure(
	ctx context.Context, tenant connectors.TenantID, id connectors.SyncRunID, f *fault.Error, seen store.ServerObservation,
) connectors.SyncRun {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	unsaved := unsavedRun{tenant: tenant, run: id, seen: seen, err: newSyncError(f)}
	done, err := s.storeFailure(ctx, unsaved)
	if err != nil && !isRunClosed(err) {
		s.log.ErrorContext(ctx, "end of a sync not stored yet", slog.String("sync_run_id", id.String()), slog.Any("error", err))
		s.heartbeat.addUnsaved(unsaved)
	}
	return done
}

func (s *Syncer) storeFailure(ctx context.Context, unsaved unsavedRun) (connectors.SyncRun, error) {
	return s.store.Tenant(unsaved.tenant).Syncs().Fail(ctx, unsaved.run, unsaved.err, unsaved.seen)
}

func newSyncError(f *fault.Error) connectors.SyncError {
	e := connectors.SyncError{Code: errorCode(f), Message: f.Message, At: time.Now()}
	e.Temporary = f.Remote != nil && f.Remote.Retryable || f.Kind != fault.Upstream
	e.RetryAfter, e.Upstream = time.Duration(f.RetryAfter)*time.Second, connectors.UpstreamOf(f.Remote)
	return e
}

// isRunClosed reports whether the error says that a run is deleted or has ended.
func isRunClosed(err error) bool {
	return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict)
}

// errorCode is the code stored for a failed run.
func errorCode(f *fault.Error) string {
	switch {
	case f.Code != "":
		return f.Code
	case f.Type == "credential-required", f.Type == store.TypeAccountRequired:
		return codeCredential
	default:
		return codeInternal
	}
}
