package manage

import (
	"context"
	"fmt"

	"patchbay/internal/auth"
)

// maxFilters bounds a table's filters in the audit log, in bytes.
const maxFilters = 1000

// RecordAuditExport records an export of the audit log and returns the last entry before it.
func (r *Registry) RecordAuditExport(ctx context.Context, a auth.Actor) (last int64, err error) {
	db := r.store.Tenant(a.Tenant.ID)
	if last, err = db.Audit().End(ctx); err != nil {
		return 0, fmt.Errorf("find the end of the audit log: %w", err)
	}
	e := a.Event("audit.export", a.Tenant.Slug)
	e.Detail = map[string]any{"entries": last}
	if err := db.Audit().Record(ctx, e); err != nil {
		return 0, fmt.Errorf("record the export: %w", err)
	}
	return last, nil
}

// RecordTableExport records the export of a table with its format and percent-encoded filters. Viewing a page
// is not recorded; a file can leave the organisation.
func (r *Registry) RecordTableExport(ctx context.Context, a auth.Actor, table, format, filters string) error {
	e := a.Event("table.export", table)
	e.Detail = map[string]any{"format": format}
	if len(filters) > maxFilters {
		filters = filters[:maxFilters] + "…"
	}
	if filters != "" {
		e.Detail["filters"] = filters
	}
	return r.store.Tenant(a.Tenant.ID).Audit().Record(ctx, e)
}
