package toolsync

import (
	"context"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
)

// readOtherTools reads other connectors' tools that new and changed tools may be confused with or refer to.
// Without such tools it sends no query.
func readOtherTools(ctx context.Context, st store.Tools, id connectors.ConnectorID, c connectors.Comparison) (*toolchange.Names, error) {
	words, fresh := c.NamesNeeded()
	if len(words)+len(fresh) == 0 {
		return nil, nil
	}
	others, err := st.Others(ctx, id, slices.Concat(words, fresh), len(fresh) > 0)
	if err != nil {
		return nil, err
	}
	own := make([]string, len(c.List))
	for i, d := range c.List {
		own[i] = d.Name
	}
	return toolchange.NewNames(others, own), nil
}
