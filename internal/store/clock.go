package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// StartClaimed gives a scheduled sync its row, because it has something to tell: a list that differs, or that is new. The claim
// goes over to the run, whose end gives it back. One that is lost is not found. The id is the caller's, who may try again where it
// heard no answer.
func (t *Tenant) StartClaimed(ctx context.Context, c Claim, id connectors.SyncRunID, began time.Time) (connectors.SyncRun, error) {
	row, err := t.q.StartClaimedRun(ctx, dbgen.StartClaimedRunParams{
		TenantID:    t.id,
		ID:          id,
		InstanceID:  c.instance.UUID,
		BeganAt:     began,
		ConnectorID: c.Connector.ID,
		ClaimedAt:   c.at,
	})
	if fault.Is(err, fault.Conflict) { // it began at the try before
		if run, again := t.SyncRun(ctx, id); again == nil {
			return run, nil
		}
	}
	if err != nil {
		return connectors.SyncRun{}, found(err, "claim")
	}
	return syncRunOf(row), nil
}

// NewSyncRunID makes the id of a run.
func NewSyncRunID() connectors.SyncRunID { return connectors.SyncRunID{UUID: newID()} }

// Clock is when a connector is synced by itself, and how that goes.
func (t *Tenant) Clock(ctx context.Context, id connectors.ConnectorID) (connectors.Clock, error) {
	row, err := t.q.Clock(ctx, t.id, id)
	if err != nil {
		return connectors.Clock{}, found(err, "connector")
	}
	return connectors.Clock{
		DueAt: utc(row.DueAt), Failures: int(row.Failures), FailingSince: utc(row.FailingSince),
		CheckedAt: utc(row.CheckedAt), OKAt: utc(row.OkAt),
	}, nil
}

// ConnectorHealth is what came of a connector's syncs since a time, hour by hour, the oldest first. Hours without any are left out.
func (t *Tenant) ConnectorHealth(ctx context.Context, id connectors.ConnectorID, since time.Time) ([]connectors.HealthHour, error) {
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
