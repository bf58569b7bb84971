package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// StartClaimed stores a run for a scheduled sync with a new or changed list. The claim passes to the run and is
// released when the run ends. A lost claim is NotFound. The caller makes the id, so that it can retry after a
// lost response.
func (t Syncs) StartClaimed(ctx context.Context, c Claim, id connectors.SyncRunID, began time.Time) (connectors.SyncRun, error) {
	row, err := t.q.StartClaimedRun(ctx, dbgen.StartClaimedRunParams{
		TenantID:    t.id,
		ID:          id,
		InstanceID:  c.instance.UUID,
		BeganAt:     began,
		ConnectorID: c.Connector.ID,
		ClaimedAt:   c.claimedAt,
	})
	if fault.Is(err, fault.Conflict) { // it began in the previous try
		if run, again := t.Get(ctx, id); again == nil {
			return run, nil
		}
	}
	if err != nil {
		return connectors.SyncRun{}, rowError(err, "claim")
	}
	return toSyncRun(row), nil
}

// NewSyncRunID makes the id of a run.
func NewSyncRunID() connectors.SyncRunID { return connectors.SyncRunID{UUID: newID()} }

// Clock returns a connector's sync schedule and its state.
func (t Syncs) Clock(ctx context.Context, id connectors.ConnectorID) (connectors.Clock, error) {
	row, err := t.q.Clock(ctx, t.id, id)
	if err != nil {
		return connectors.Clock{}, rowError(err, "connector")
	}
	return connectors.Clock{
		DueAt: toUTC(row.DueAt), Failures: int(row.Failures), FailingSince: toUTC(row.FailingSince),
		CheckedAt: toUTC(row.CheckedAt), OKAt: toUTC(row.OkAt),
	}, nil
}

// ConnectorHealth returns a connector's sync results per hour since a time, oldest first. Hours without syncs
// are left out.
func (t Syncs) ConnectorHealth(ctx context.Context, id connectors.ConnectorID, since time.Time) ([]connectors.HealthHour, error) {
	rows, err := t.q.ConnectorHealth(ctx, t.id, id, since.Truncate(time.Hour))
	if err != nil {
		return nil, err
	}
	hours := make([]connectors.HealthHour, len(rows))
	for i, r := range rows {
		syncs := int64(r.Ok + r.Failed)
		hours[i] = connectors.HealthHour{
			Hour: r.Hour.UTC(), OK: int(r.Ok), Failed: int(r.Failed),
			Mean: time.Duration(r.MsSum/max(syncs, 1)) * time.Millisecond, Max: time.Duration(r.MsMax) * time.Millisecond,
		}
	}
	return hours, nil
}
