package toolsync

import (
	"context"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
)

// otherTools reads the tools of other connectors that new and changed tools may be taken for, or talk about. A list in which nothing is
// new to read asks nothing.
func otherTools(ctx context.Context, st *store.Tenant, id connectors.ConnectorID, c connectors.Comparison) (*toolchange.Names, error) {
	words, fresh := c.NamesNeeded()
	if len(words)+len(fresh) == 0 {
		return nil, nil
	}
	others, err := st.OtherTools(ctx, id, slices.Concat(words, fresh), len(fresh) > 0)
	if err != nil {
		return nil, err
	}
	own := make([]string, len(c.List))
	for i, d := range c.List {
		own[i] = d.Name
	}
	return toolchange.NewNames(others, own), nil
}
