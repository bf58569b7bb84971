package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// Base is what a sync's result is compared with.
type Base struct {
	ListHash     *connectors.Hash       // of the list that is known; nil: none
	Tools        []connectors.ToolState // removed ones, too
	Instructions connectors.Instructions
}

// SyncBase is what is known of a connector's server.
func (t *Tenant) SyncBase(ctx context.Context, id connectors.ConnectorID) (Base, error) {
	var known dbgen.ConnectorBaseRow
	var rows []dbgen.ToolStatesRow
	err := t.scope.readTogether(ctx,
		func(q *dbgen.Queries) (err error) { known, err = q.ConnectorBase(ctx, t.id, id); return err },
		func(q *dbgen.Queries) (err error) { rows, err = q.ToolStates(ctx, t.id, id); return err },
	)
	if err != nil {
		return Base{}, found(err, "connector")
	}
	base := Base{
		ListHash: hashOf(known.ToolsHash), Tools: make([]connectors.ToolState, len(rows)),
		Instructions: instructionsOf(known.ServerInstructions, known.AcceptedInstructions, known.InstructionsReview),
	}
	for i, r := range rows {
		base.Tools[i] = connectors.ToolState{
			Name:     r.Name,
			Current:  *hashOf(r.CurrentHash),
			Accepted: hashOf(r.AcceptedHash),
			Review:   r.Review,
			Removed:  r.Removed,
		}
	}
	return base, nil
}

// FinishUnchanged ends a run whose list has the hash that is known, in one statement. ok is false where the hash or the server's
// instructions differ; then nothing is written and the run goes on.
func (t *Tenant) FinishUnchanged(ctx context.Context, id connectors.SyncRunID, listHash connectors.Hash, seen Seen) (ok bool, run connectors.SyncRun, err error) {
	row, err := t.q.FinishUnchanged(ctx, dbgen.FinishUnchangedParams{
		TenantID:           t.id,
		ID:                 id,
		ListHash:           listHash[:],
		ToolsTotal:         int32(seen.Total),
		ToolsQuarantined:   int32(seen.Quarantined),
		AuthBehaviour:      string(seen.AuthBehaviour),
		Era:                clean(seen.Era),
		KnownS:             seen.KnownFor.Seconds(),
		ServerName:         clean(seen.Server.Name),
		ServerVersion:      clean(seen.Server.Version),
		ServerTitle:        clean(seen.Server.Title),
		ServerProtocol:     clean(seen.Server.ProtocolVersion),
		ServerInstructions: clean(seen.Server.Instructions),
		ServerCapabilities: seen.Capabilities,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, connectors.SyncRun{}, nil
	}
	if err != nil {
		return false, connectors.SyncRun{}, err
	}
	return true, syncRunOf(row), nil
}

// FinishSync ends a run and writes what its list changes, in one transaction of as many statements for a thousand tools as for
// one. A run that has ended is a Conflict, and nothing is written.
func (t *Tenant) FinishSync(ctx context.Context, id connectors.SyncRunID, res SyncResult) (connectors.SyncRun, error) {
	return t.finish(ctx, res, func(tx *Tenant) (dbgen.SyncRun, error) {
		row, err := tx.q.FinishRun(ctx, dbgen.FinishRunParams{
			TenantID:         tx.id,
			ID:               id,
			ToolsTotal:       int32(res.Total),
			ToolsAdded:       int32(len(res.Diff.Added)),
			ToolsChanged:     int32(len(res.Diff.Changed)),
			ToolsRemoved:     int32(len(res.Diff.Removed)),
			ToolsQuarantined: int32(res.Seen.Quarantined),
			ProtocolVersion:  clean(res.Server.ProtocolVersion),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			err = tx.ended(ctx, id)
		}
		return row, err
	})
}

// finish writes the end of a run, which locks its connector, and then what its list changes.
func (t *Tenant) finish(ctx context.Context, res SyncResult, end func(tx *Tenant) (dbgen.SyncRun, error)) (run connectors.SyncRun, err error) {
	err = t.within(ctx, func(tx *Tenant) error {
		row, err := end(tx)
		if err != nil {
			return err
		}
		run = syncRunOf(row)
		if err := tx.writeTools(ctx, row, res); err != nil {
			return tx.says(err, "connector", row.ConnectorID)
		}
		return tx.says(tx.tellOfChanges(ctx, row.ConnectorID, res.Diff), "connector", row.ConnectorID)
	})
	if err != nil {
		return connectors.SyncRun{}, err
	}
	return run, nil
}

// FailSync ends a run with its reason. The tools that are known stay; when the connector is tried again by itself, the kind of
// failure says.
func (t *Tenant) FailSync(ctx context.Context, id connectors.SyncRunID, e connectors.SyncError, seen Seen) (connectors.SyncRun, error) {
	trouble, err := t.q.RunTrouble(ctx, t.id, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return connectors.SyncRun{}, t.ended(ctx, id)
	}
	if err != nil {
		return connectors.SyncRun{}, err
	}
	code, message := clean(e.Code), clean(e.Message)
	answered, silent := hourCount(e.Code)
	row, err := t.q.FailRun(ctx, dbgen.FailRunParams{
		TenantID:         t.id,
		ID:               id,
		ToolsTotal:       int32(seen.Total),
		ToolsQuarantined: int32(seen.Quarantined),
		ProtocolVersion:  clean(seen.Server.ProtocolVersion),
		ErrorCode:        &code,
		ErrorMessage:     &message,
		AuthBehaviour:    string(seen.AuthBehaviour),
		WaitS:            waitAfter(trouble, e),
		Answered:         answered,
		Silent:           silent,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return connectors.SyncRun{}, t.ended(ctx, id)
	}
	if err != nil {
		return connectors.SyncRun{}, err
	}
	return syncRunOf(row), nil
}

// hourCount is by how much a failed sync counts in its hour, as one that the server answered, and as one that it did not.
func hourCount(code string) (answered, silent int32) {
	switch connectors.ReachedBy(code) {
	case connectors.ReachUp:
		return 1, 0
	case connectors.ReachUnknown:
		return 0, 0
	}
	return 0, 1
}

// waitAfter is how long a connector is left alone after a failure, in seconds; nil: until somebody mends it.
func waitAfter(r dbgen.RunTroubleRow, e connectors.SyncError) *float64 {
	t := connectors.Trouble{
		Code: e.Code, Temporary: e.Temporary, RetryAfter: e.RetryAfter,
		Failures: int(r.Failures), Failing: time.Duration(r.FailingS * float64(time.Second)),
	}
	if r.Enabled {
		t.Interval = time.Duration(r.SyncIntervalS) * time.Second
	}
	wait, ok := t.Wait()
	if !ok {
		return nil
	}
	seconds := wait.Seconds()
	return &seconds
}

// ended says why a run cannot be ended: it is not there, or it has ended.
func (t *Tenant) ended(ctx context.Context, id connectors.SyncRunID) error {
	if _, err := t.SyncRun(ctx, id); err != nil {
		return err
	}
	return fault.Errorf(fault.Conflict, "This sync has ended already.").WithType("sync-ended")
}
