package store_test

import (
	"context"
	"time"

	"patchbay/internal/connectors"
)

// settingsAttempts are the cases of what a tenant says about itself.
var settingsAttempts = map[string]attempt{
	"SetDefaults": func(ctx context.Context, o outsider) (bool, error) {
		mine := connectors.Defaults{
			Approval: connectors.ApprovalAuto, SyncInterval: time.Hour, ToolChanges: connectors.ToolChangesAuto, Listen: connectors.ListenOff,
		}
		if err := o.door.SetDefaults(ctx, mine); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.Defaults == mine, err
	},
	"SetDownAfter": func(ctx context.Context, o outsider) (bool, error) {
		mine := connectors.DownAfter{Failures: 7, Minutes: 70}
		if err := o.door.SetDownAfter(ctx, mine); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.DownAfter == mine, err
	},
	"People.RequireSecondFactor": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.People().RequireSecondFactor(ctx, true); err != nil {
			return false, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.SecondFactorRequired, err
	},
	"SealingKeys": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.SealingKeys(ctx)
		if err != nil {
			return false, err
		}
		theirs, err := o.Door().SealingKeys(ctx)
		return mine.Primary == theirs.Primary, err
	},
	"SealedBy": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.SealedBy(ctx)
		return len(mine) > 0, err
	},
}
