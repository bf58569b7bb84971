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

// SyncBaseline is what a sync's result is compared with.
type SyncBaseline struct {
	ListHash     *connectors.Hash // of the known list; nil: none
	Policy       connectors.ToolChangePolicy
	Tools        []connectors.ToolState // including removed ones
	Instructions connectors.Instructions
}

// Baseline reads the known state of a connector's server.
func (t Syncs) Baseline(ctx context.Context, id connectors.ConnectorID) (SyncBaseline, error) {
	var known dbgen.ConnectorBaseRow
	var rows []dbgen.ToolStatesRow
	err := t.scope.runReadBatch(ctx,
		func(q *dbgen.Queries) (err error) { known, err = q.ConnectorBase(ctx, t.id, id); return err },
		func(q *dbgen.Queries) (err error) { rows, err = q.ToolStates(ctx, t.id, id); return err },
	)
	if err != nil {
		return SyncBaseline{}, rowError(err, "connector")
	}
	base := SyncBaseline{
		ListHash: toHash(known.ToolsHash), Policy: known.ToolChanges, Tools: make([]connectors.ToolState, len(rows)),
		Instructions: toInstructions(known.ServerInstructions, known.AcceptedInstructions, known.InstructionsReview),
	}
	for i, r := range rows {
		base.Tools[i] = connectors.ToolState{
			Name:     r.Name,
			Current:  *toHash(r.CurrentHash),
			Accepted: toHash(r.AcceptedHash),
			Review:   r.Review,
			Removed:  r.Removed,
		}
	}
	return base, nil
}

// FinishUnchanged ends a run with an unchanged list, in one statement. ok is false if the hash or the
// instructions differ: nothing is written, and the run continues.
func (t Syncs) FinishUnchanged(ctx context.Context, id connectors.SyncRunID, listHash connectors.Hash, seen ServerObservation) (ok bool, run connectors.SyncRun, err error) {
	row, err := t.q.FinishUnchanged(ctx, dbgen.FinishUnchangedParams{
		TenantID:           t.id,
		ID:                 id,
		ListHash:           listHash[:],
		ToolsTotal:         int32(seen.Total),
		ToolsQuarantined:   int32(seen.Quarantined),
		ItemCounts:         encodeItemCounts(seen.Items),
		AuthBehaviour:      string(seen.AuthBehaviour),
		Era:                cleanText(seen.Era),
		KnownS:             seen.KnownFor.Seconds(),
		ServerName:         cleanText(seen.Server.Name),
		ServerVersion:      cleanText(seen.Server.Version),
		ServerTitle:        cleanText(seen.Server.Title),
		ServerProtocol:     cleanText(seen.Server.ProtocolVersion),
		ServerInstructions: cleanText(seen.Server.Instructions),
		ServerCapabilities: seen.Capabilities,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, connectors.SyncRun{}, nil
	}
	if err != nil {
		return false, connectors.SyncRun{}, err
	}
	return true, toSyncRun(row), nil
}

// Finish ends a run and writes the changes, in one transaction with a constant number of statements. A run
// that has ended is a Conflict, and nothing is written; nor is it with ErrOutdated.
func (t Syncs) Finish(ctx context.Context, id connectors.SyncRunID, res SyncResult) (connectors.SyncRun, error) {
	return t.finishRun(ctx, res, func(tx *Tenant) (dbgen.SyncRun, error) {
		row, err := tx.q.FinishRun(ctx, dbgen.FinishRunParams{
			TenantID:         tx.id,
			ID:               id,
			ToolsTotal:       int32(res.Total),
			ToolsAdded:       int32(len(res.Diff.Added)),
			ToolsChanged:     int32(len(res.Diff.Changed)),
			ToolsRemoved:     int32(len(res.Diff.Removed)),
			ToolsQuarantined: int32(res.ServerObservation.Quarantined),
			ItemCounts:       encodeItemCounts(res.Items),
			ProtocolVersion:  cleanText(res.Server.ProtocolVersion),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			err = tx.explainEnded(ctx, id)
		}
		return row, err
	})
}

// finishRun ends a run, which locks its connector, and then writes the changes of its list.
func (t *tenant) finishRun(ctx context.Context, res SyncResult, end func(tx *Tenant) (dbgen.SyncRun, error)) (run connectors.SyncRun, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		row, err := end(tx)
		if err != nil {
			return err
		}
		run = toSyncRun(row)
		if err := tx.checkComparedTools(ctx, row.ConnectorID, res.Diff); err != nil {
			return err
		}
		if err := tx.writeTools(ctx, row, res); err != nil {
			return tx.notifyChange(err, "connector", row.ConnectorID)
		}
		if err := tx.noteVanished(ctx, row.ConnectorID, res.Diff); err != nil {
			return err
		}
		return tx.notifyChange(tx.notifyOfChanges(ctx, row.ConnectorID, res.Diff), "connector", row.ConnectorID)
	})
	if err != nil {
		return connectors.SyncRun{}, err
	}
	return run, nil
}

// Fail ends a run with an error. Known tools stay. The kind of failure decides the time of the next
// scheduled sync.
func (t Syncs) Fail(ctx context.Context, id connectors.SyncRunID, e connectors.SyncError, seen ServerObservation) (connectors.SyncRun, error) {
	trouble, err := t.q.RunRetryState(ctx, t.id, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return connectors.SyncRun{}, t.explainEnded(ctx, id)
	}
	if err != nil {
		return connectors.SyncRun{}, err
	}
	code, message := cleanText(e.Code), cleanText(e.Message)
	answered, silent := failureCounts(e.Code)
	row, err := t.q.FailRun(ctx, dbgen.FailRunParams{
		TenantID:         t.id,
		ID:               id,
		ToolsTotal:       int32(seen.Total),
		ToolsQuarantined: int32(seen.Quarantined),
		ProtocolVersion:  cleanText(seen.Server.ProtocolVersion),
		ErrorCode:        &code,
		ErrorMessage:     &message,
		Upstream:         encodeUpstream(e.Upstream),
		AuthBehaviour:    string(seen.AuthBehaviour),
		WaitS:            backoffSeconds(trouble, e),
		Answered:         answered,
		Silent:           silent,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return connectors.SyncRun{}, t.explainEnded(ctx, id)
	}
	if err != nil {
		return connectors.SyncRun{}, err
	}
	return toSyncRun(row), nil
}

// failureCounts returns the increments of a failed sync in its hour: server answered, server silent.
func failureCounts(code string) (answered, silent int32) {
	switch connectors.ReachStateFor(code) {
	case connectors.ReachUp:
		return 1, 0
	case connectors.ReachUnknown:
		return 0, 0
	}
	return 0, 1
}

// backoffSeconds returns the pause after a failure in seconds; nil: until a person fixes it.
func backoffSeconds(r dbgen.RunRetryStateRow, e connectors.SyncError) *float64 {
	t := connectors.SyncFailure{
		Code: e.Code, Temporary: e.Temporary, RetryAfter: e.RetryAfter,
		Failures: int(r.Failures), FailingFor: time.Duration(r.FailingS * float64(time.Second)),
	}
	if r.Enabled {
		t.Interval = time.Duration(r.SyncIntervalS) * time.Second
	}
	wait, ok := t.RetryDelay()
	if !ok {
		return nil
	}
	seconds := wait.Seconds()
	return &seconds
}

// explainEnded returns the error for a run that cannot end: missing, or ended already.
func (t *tenant) explainEnded(ctx context.Context, id connectors.SyncRunID) error {
	run, err := t.asTenant().Syncs().Get(ctx, id)
	switch {
	case err != nil:
		return err
	case run.State == connectors.SyncCancelled:
		return ErrSyncCancelled()
	}
	return fault.Errorf(fault.Conflict, "This sync has ended.").WithType("sync-ended")
}
