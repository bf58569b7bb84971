package store_test

import (
	"context"
	"time"

	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

var clockAttempts = map[string]attempt{
	"Clock": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.Clock(ctx, o.connector.ID)) },
	"ConnectorHealth": func(ctx context.Context, o outsider) (bool, error) {
		hours, err := o.door.ConnectorHealth(ctx, o.connector.ID, time.Time{})
		return len(hours) > 0, err
	},
	"StartClaimed": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.StartClaimed(ctx, store.Claim{Tenant: o.Tenant, Connector: o.connector}, store.NewSyncRunID(), time.Now()))
	},
	"FinishClaimed": func(ctx context.Context, o outsider) (bool, error) {
		r := store.ClaimedRun{ID: store.NewSyncRunID(), Claim: store.Claim{Tenant: o.Tenant, Connector: o.connector}, Began: time.Now()}
		return one(o.door.FinishClaimed(ctx, r, fixture.FirstResult(fixture.Definition("search"))))
	},
}

// ownClock are the methods that show the outsider's own rows.
var ownClock = map[string]bool{"ConnectorHealth": true}
