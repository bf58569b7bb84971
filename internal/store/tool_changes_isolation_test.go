package store_test

import (
	"context"
	"errors"
	"slices"
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
	"Tools.Changes": func(ctx context.Context, o outsider) (bool, error) {
		all, err := some(o.door.Tools().Changes(ctx, store.ChangeFilter{}))
		if all || err != nil {
			return all, err
		}
		return some(o.door.Tools().Changes(ctx, store.ChangeFilter{Connector: &o.changed.ID}))
	},
	"Tools.ChangeMarks": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.Tools().ChangeMarks(ctx, store.ChangeFilter{})
		one, oneErr := o.door.Tools().ChangeMarks(ctx, store.ChangeFilter{Connector: &o.changed.ID})
		return len(all)+len(one) > 0, errors.Join(err, oneErr)
	},
	"Tools.ChangesOf": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Tools().ChangesOf(ctx, o.changed.ID, "changed", store.Page{}))
	},
	"Tools.Change": func(ctx context.Context, o outsider) (bool, error) {
		theirs, err := o.Door().Tools().ChangesOf(ctx, o.changed.ID, "changed", store.Page{})
		if err != nil {
			return true, err
		}
		return one(o.door.Tools().Change(ctx, o.changed.ID, "changed", theirs.Items[0].ID))
	},
	"Tools.Decided": func(ctx context.Context, o outsider) (bool, error) {
		decided, err := o.door.Tools().Decided(ctx, []connectors.Ref{connectors.Ref(o.changed.ID.String())}, []string{"changed"})
		return len(decided) > 0, err
	},
	"Tools.Undo": func(ctx context.Context, o outsider) (bool, error) {
		theirs, err := o.Door().Tools().ChangesOf(ctx, o.changed.ID, "changed", store.Page{})
		if err != nil {
			return true, err
		}
		return one(o.door.Tools().Undo(ctx, store.Decision{Change: theirs.Items[0].ID}, "Eve"))
	},
	"Tools.WaitingKinds": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Tools().WaitingKinds(ctx, o.changed.ID, "changed"))
	},
	"Tools.SyncedAt": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Tools().SyncedAt(ctx, o.changed.ID))
	},
	"Tools.Others": func(ctx context.Context, o outsider) (bool, error) {
		others, err := o.door.Tools().Others(ctx, o.connector.ID, []string{"changed"}, true)
		for _, n := range others {
			if n.Tool == "changed" {
				return true, err
			}
		}
		return false, err
	},
	"Tools.DefinitionsWithin": func(ctx context.Context, o outsider) (bool, error) {
		theirs, err := o.door.Tools().DefinitionsWithin(ctx, []connectors.Hash{said("changed", "a", "").Hash})
		return len(theirs) > 0, err
	},
	"Tools.Decide": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Tools().Decide(ctx, store.ToolDecision{Connector: o.changed.ID, Tool: "changed", Accept: true, By: "mine"})
	},
	"Tools.Restore": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Tools().Restore(ctx, store.ToolRestoration{Connector: o.changed.ID, Tool: "changed", Hash: said("changed", "a", "").Hash, By: "mine"})
	},
	"Tools.Count": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Tools().Count(ctx, store.ToolFilter{Connector: &o.changed.ID})
		return n > 0, err
	},
	"Connectors.Names": func(ctx context.Context, o outsider) (bool, error) {
		names, err := o.door.Connectors().Names(ctx)
		return slices.ContainsFunc(names, func(n store.ConnectorName) bool { return n.Slug == o.changed.Slug }), err
	},
	"Audit.NamesIn": func(ctx context.Context, o outsider) (bool, error) {
		names, err := o.door.Audit().NamesIn(ctx, []store.RecordedEvent{{Target: o.changed.Slug}})
		return len(names.Connectors) > 0, err
	},
	"Tools.Risky": func(ctx context.Context, o outsider) (bool, error) {
		risky, err := o.door.Tools().Risky(ctx, []connectors.Hash{said("changed", "a", "").Hash})
		return len(risky) > 0, err
	},
	"Tools.Served": func(ctx context.Context, o outsider) (bool, error) {
		served, err := o.door.Tools().Served(ctx, o.changed.ID, "changed", []connectors.Hash{said("changed", "a", "").Hash})
		return len(served) > 0, err
	},
	"Tools.DecideInstructions": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Tools().DecideInstructions(ctx, store.ToolDecision{Connector: o.changed.ID, Accept: true, By: "mine"})
	},
	"Tools.AcceptCosmetic": func(ctx context.Context, o outsider) (bool, error) {
		accepted, err := o.door.Tools().AcceptCosmetic(ctx, "mine")
		return len(accepted) > 0, err
	},
}

// ownChanges are the methods that show or change what is the outsider's own.
var ownChanges = map[string]bool{
	"Tools.Changes": true, "Tools.ChangeMarks": true, "Tools.ChangesOf": true, "Tools.Others": true, "Tools.DefinitionsWithin": true, "Tools.AcceptCosmetic": true, "Tools.Served": true, "Tools.Decided": true, "Tools.Risky": true, "Tools.Count": true, "Connectors.Names": true, "Audit.NamesIn": true,
}
