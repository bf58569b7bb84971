package registry

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
)

// maxFilters is how much of a table's filters, which are part of an address, stands in the audit log.
const maxFilters = 1000

// TakeAudit puts on record that somebody takes the audit log along, and returns its last entry before that.
func (r *Registry) TakeAudit(ctx context.Context, a auth.Actor) (end int64, err error) {
	door := r.store.Tenant(a.Tenant.ID)
	if end, err = door.AuditEnd(ctx); err != nil {
		return 0, fmt.Errorf("find the end of the audit log: %w", err)
	}
	e := a.Event("audit.export", a.Tenant.Slug)
	e.Detail = map[string]any{"entries": end}
	if err := door.Record(ctx, e); err != nil {
		return 0, fmt.Errorf("record the export: %w", err)
	}
	return end, nil
}

// TakeTable puts on record that somebody takes a table along as a file: which one, in what format, and by what filters it was chosen, which are
// percent-encoded. A page is looked at, a file leaves the house.
func (r *Registry) TakeTable(ctx context.Context, a auth.Actor, table, format, filters string) error {
	e := a.Event("table.export", table)
	e.Detail = map[string]any{"format": format}
	if len(filters) > maxFilters {
		filters = filters[:maxFilters] + "…"
	}
	if filters != "" {
		e.Detail["filters"] = filters
	}
	return r.store.Tenant(a.Tenant.ID).Record(ctx, e)
}
