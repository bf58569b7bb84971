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

// ClaimedRun is the run that a scheduled sync gets at its end. The id is the caller's, who may try again where it heard no answer.
type ClaimedRun struct {
	ID    connectors.SyncRunID
	Claim Claim
	Began time.Time
}

// FinishClaimed ends a scheduled sync whose list differs, or is the first: its run, what the list changes, and the claim given back, in
// one transaction. Before it nothing stands in the database but the claim. One that is lost is not found, and nothing is written.
func (t *Tenant) FinishClaimed(ctx context.Context, r ClaimedRun, res SyncResult) (connectors.SyncRun, error) {
	run, err := t.finish(ctx, res, func(tx *Tenant) (dbgen.SyncRun, error) {
		return tx.q.EndClaimedRun(ctx, dbgen.EndClaimedRunParams{
			TenantID:         tx.id,
			ID:               r.ID,
			ConnectorID:      r.Claim.Connector.ID,
			InstanceID:       r.Claim.instance.UUID,
			ClaimedAt:        r.Claim.at,
			BeganAt:          r.Began,
			ToolsTotal:       int32(res.Total),
			ToolsAdded:       int32(len(res.Diff.Added)),
			ToolsChanged:     int32(len(res.Diff.Changed)),
			ToolsRemoved:     int32(len(res.Diff.Removed)),
			ToolsQuarantined: int32(res.Seen.Quarantined),
			ProtocolVersion:  clean(res.Server.ProtocolVersion),
		})
	})
	if errors.Is(err, pgx.ErrNoRows) || fault.Is(err, fault.Conflict) { // was it stored at the try before?
		if stored, again := t.SyncRun(ctx, r.ID); again == nil {
			return stored, nil
		}
	}
	return run, found(err, "claim")
}
