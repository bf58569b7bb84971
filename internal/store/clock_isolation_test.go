package store_test

import (
	"context"
	"time"

	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

var clockAttempts = map[string]attempt{
	"Syncs.Clock": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Syncs().Clock(ctx, o.connector.ID))
	},
	"Syncs.ConnectorHealth": func(ctx context.Context, o outsider) (bool, error) {
		hours, err := o.door.Syncs().ConnectorHealth(ctx, o.connector.ID, time.Time{})
		return len(hours) > 0, err
	},
	"Syncs.StartClaimed": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Syncs().StartClaimed(ctx, store.Claim{Tenant: o.Tenant, Connector: o.connector}, store.NewSyncRunID(), time.Now()))
	},
	"Syncs.FinishClaimed": func(ctx context.Context, o outsider) (bool, error) {
		r := store.ClaimedRun{ID: store.NewSyncRunID(), Claim: store.Claim{Tenant: o.Tenant, Connector: o.connector}, Began: time.Now()}
		return one(o.door.Syncs().FinishClaimed(ctx, r, fixture.FirstResult(fixture.Definition("search"))))
	},
}

// ownClock are the methods that show the outsider's own rows.
var ownClock = map[string]bool{"Syncs.ConnectorHealth": true}
