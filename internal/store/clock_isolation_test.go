package store_test

import (
	"context"
	"time"

	"patchbay/internal/store"
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
}

// ownClock are the methods that show the outsider's own rows.
var ownClock = map[string]bool{"ConnectorHealth": true}
