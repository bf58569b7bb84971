package store_test

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// curationAttempts are the outsider's at what admins say of tools.
var curationAttempts = map[string]attempt{
	"LockTools": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.LockTools(ctx, o.connector.ID)
	},
	"CuratedTools": func(ctx context.Context, o outsider) (bool, error) {
		tools, err := o.door.CuratedTools(ctx, o.connector.ID)
		return len(tools) > 0, err
	},
	"CurateTools": func(ctx context.Context, o outsider) (bool, error) {
		mine := []store.CuratedTool{{Name: "search", Curation: connectors.Curation{Alias: "mine"}}}
		err := o.door.CurateTools(ctx, o.connector.ID, mine)
		if theirs, read := o.Door().CuratedTools(ctx, o.connector.ID); read != nil || len(theirs) == 0 || theirs[0].Alias != "" {
			return true, read
		}
		return !fault.Is(err, fault.NotFound), err
	},
	"ToolTags": func(ctx context.Context, o outsider) (bool, error) {
		theirs := []store.CuratedTool{{Name: "search", Curation: connectors.Curation{Enabled: true, Tags: []string{"theirs"}}}}
		if err := o.Door().CurateTools(ctx, o.connector.ID, theirs); err != nil {
			return true, err
		}
		tags, err := o.door.ToolTags(ctx, o.connector.ID)
		return len(tags) > 0, err
	},
}
