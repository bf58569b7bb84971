package store_test

import (
	"context"
	"errors"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// fillChanges has a cosmetic change wait.
func (o *outsider) fillChanges(t *testing.T) {
	t.Helper()
	o.changed = o.Connector(t, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesHoldAll })
	o.Says(t, o.changed.ID, "Be kind.", said("changed", "a", ""))
	o.Says(t, o.changed.ID, "Be  kind.", said("changed", "a", `,"title":"T"`))
}

// changeAttempts are the outsider's at changes of tools.
var changeAttempts = map[string]attempt{
	"Changes": func(ctx context.Context, o outsider) (bool, error) {
		all, err := some(o.door.Changes(ctx, store.ChangeFilter{}))
		if all || err != nil {
			return all, err
		}
		return some(o.door.Changes(ctx, store.ChangeFilter{Connector: &o.changed.ID}))
	},
	"ChangeMarks": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.ChangeMarks(ctx, store.ChangeFilter{})
		one, oneErr := o.door.ChangeMarks(ctx, store.ChangeFilter{Connector: &o.changed.ID})
		return len(all)+len(one) > 0, errors.Join(err, oneErr)
	},
	"ToolChanges": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.ToolChanges(ctx, o.changed.ID, "changed", store.Page{}))
	},
	"ToolChange": func(ctx context.Context, o outsider) (bool, error) {
		theirs, err := o.Door().ToolChanges(ctx, o.changed.ID, "changed", store.Page{})
		if err != nil {
			return true, err
		}
		return one(o.door.ToolChange(ctx, o.changed.ID, "changed", theirs.Items[0].ID))
	},
	"WaitingKinds": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.WaitingKinds(ctx, o.changed.ID, "changed"))
	},
	"ToolsSyncedAt": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.ToolsSyncedAt(ctx, o.changed.ID))
	},
	"OtherTools": func(ctx context.Context, o outsider) (bool, error) {
		others, err := o.door.OtherTools(ctx, o.connector.ID, []string{"changed"}, true)
		for _, n := range others {
			if n.Tool == "changed" {
				return true, err
			}
		}
		return false, err
	},
	"DefinitionsWithin": func(ctx context.Context, o outsider) (bool, error) {
		theirs, err := o.door.DefinitionsWithin(ctx, []connectors.Hash{said("changed", "a", "").Hash})
		return len(theirs) > 0, err
	},
	"DecideTool": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.DecideTool(ctx, store.ToolDecision{Connector: o.changed.ID, Tool: "changed", Accept: true, By: "mine"})
	},
	"DecideInstructions": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.DecideInstructions(ctx, store.ToolDecision{Connector: o.changed.ID, Accept: true, By: "mine"})
	},
	"AcceptCosmetic": func(ctx context.Context, o outsider) (bool, error) {
		accepted, err := o.door.AcceptCosmetic(ctx, "mine")
		return len(accepted) > 0, err
	},
}

// ownChanges are the methods that show or change what is the outsider's own.
var ownChanges = map[string]bool{
	"Changes": true, "ChangeMarks": true, "ToolChanges": true, "OtherTools": true, "DefinitionsWithin": true, "AcceptCosmetic": true,
}
