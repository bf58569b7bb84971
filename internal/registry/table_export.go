package registry

import (
	"context"

	"patchbay/internal/auth"
)

// TakeTable puts on record that somebody takes a table along as a file: which one, in what format, and by what filters it was chosen. A
// page is looked at, a file leaves the house.
func (r *Registry) TakeTable(ctx context.Context, a auth.Actor, table, format, filters string) error {
	e := a.Event("table.export", table)
	e.Detail = map[string]any{"format": format}
	if filters != "" {
		e.Detail["filters"] = filters
	}
	return r.store.Tenant(a.Tenant.ID).Record(ctx, e)
}
