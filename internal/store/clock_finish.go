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

// ClaimedRun is the run that a scheduled sync stores at its end. The caller makes the id, so that it can retry
// after a lost response.
type ClaimedRun struct {
	ID    connectors.SyncRunID
	Claim Claim
	Began time.Time
}

// FinishClaimed ends a scheduled sync with a new or changed list. One transaction stores the run and the
// changes and releases the claim. A lost claim is NotFound, and nothing is written; nor is it with ErrOutdated.
func (t Syncs) FinishClaimed(ctx context.Context, r ClaimedRun, res SyncResult) (connectors.SyncRun, error) {
	run, err := t.finishRun(ctx, res, func(tx *Tenant) (dbgen.SyncRun, error) {
		return tx.q.EndClaimedRun(ctx, dbgen.EndClaimedRunParams{
			TenantID:         tx.id,
			ID:               r.ID,
			ConnectorID:      r.Claim.Connector.ID,
			InstanceID:       r.Claim.instance.UUID,
			ClaimedAt:        r.Claim.claimedAt,
			BeganAt:          r.Began,
			ToolsTotal:       int32(res.Total),
			ToolsAdded:       int32(len(res.Diff.Added)),
			ToolsChanged:     int32(len(res.Diff.Changed)),
			ToolsRemoved:     int32(len(res.Diff.Removed)),
			ToolsQuarantined: int32(res.ServerObservation.Quarantined),
			ItemCounts:       encodeItemCounts(res.Items),
			ProtocolVersion:  cleanText(res.Server.ProtocolVersion),
		})
	})
	if errors.Is(err, pgx.ErrNoRows) || fault.Is(err, fault.Conflict) { // the previous try may have stored it
		if stored, again := t.Get(ctx, r.ID); again == nil {
			return stored, nil
		}
	}
	return run, rowError(err, "claim")
}
