package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Tools lists tools by name or in another order, of one connector or of all; a query finds words of name, title and description, and the
// beginning of a name. A page ends early where its definitions have [MaxPageBytes].
func (t *Tenant) Tools(ctx context.Context, f ToolFilter) (list List[connectors.Tool], err error) {
	if f.Order = f.Order.among(ToolOrders); !f.Order.own() {
		err = t.Snapshot(ctx, func(tx *Tenant) error {
			list, err = tx.toolsOrdered(ctx, f)
			return err
		})
		return list, err
	}
	name, id, err := f.afterNamed("tools")
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	rows, err := t.q.Tools(ctx, dbgen.ToolsParams{
		TenantID:       t.id,
		Connector:      f.connector(),
		Removed:        f.Removed,
		Tag:            strings.ToLower(strings.TrimSpace(clean(f.Tag))),
		State:          string(f.State),
		Says:           saysTrue(f.Hint),
		Query:          strings.TrimSpace(clean(f.Query)),
		Prefix:         prefix(f.Query),
		AfterName:      name,
		AfterConnector: id,
		MaxRows:        f.rows(),
		MaxBytes:       MaxPageBytes,
	})
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	at := func(r dbgen.ToolsRow) []string { return []string{r.Name, r.ConnectorID.String()} }
	return listUntil(f.Page, rows, listedTool, "tools", at, func(r dbgen.ToolsRow) bool { return r.More }), nil
}

func (f ToolFilter) connector() *uuid.UUID {
	if f.Connector == nil {
		return nil
	}
	return &f.Connector.UUID
}

// Tool is one tool, even a removed one.
func (t *Tenant) Tool(ctx context.Context, id connectors.ConnectorID, name string) (connectors.Tool, error) {
	row, err := t.q.Tool(ctx, t.id, id, clean(name))
	if err != nil {
		return connectors.Tool{}, found(err, "tool")
	}
	return toolOf(row), nil
}

// Quarantined lists the entries of a connector's last list that are no tools, in the order of the list. A
// page ends early as one of Tools does.
func (t *Tenant) Quarantined(ctx context.Context, id connectors.ConnectorID, p Page) (List[connectors.Quarantined], error) {
	at, err := p.position("quarantined", 1)
	if err != nil {
		return List[connectors.Quarantined]{}, err
	}
	after := int64(0)
	if at != nil {
		if after, err = strconv.ParseInt(at[0], 10, 32); err != nil {
			return List[connectors.Quarantined]{}, badCursor(err)
		}
	}
	rows, err := t.q.Quarantined(ctx, dbgen.QuarantinedParams{
		TenantID: t.id, ConnectorID: id, AfterPosition: int32(after), MaxRows: p.rows(), MaxBytes: MaxPageBytes,
	})
	if err != nil {
		return List[connectors.Quarantined]{}, err
	}
	item := func(r dbgen.QuarantinedRow) connectors.Quarantined {
		return connectors.Quarantined{Name: r.Name, Reason: r.Reason, Raw: r.Raw}
	}
	position := func(r dbgen.QuarantinedRow) []string { return []string{strconv.Itoa(int(r.Position))} }
	return listUntil(p, rows, item, "quarantined", position, func(r dbgen.QuarantinedRow) bool { return r.More }), nil
}

// saysTrue finds a definition that has a hint that is true; a pattern is made of the known ones alone. Within a string of JSON a quote stands behind a backslash.
func saysTrue(hint connectors.Hint) string {
	if !slices.Contains(connectors.ToolHints, hint) {
		return ""
	}
	return `[^\\]"` + string(hint) + `"\s*:\s*true`
}

func listedTool(r dbgen.ToolsRow) connectors.Tool {
	return toolOf(dbgen.ToolRow{
		Tool: dbgen.Tool{
			ConnectorID: r.ConnectorID, Name: r.Name, CurrentHash: r.CurrentHash, Review: connectors.Review(r.Review),
			Enabled: r.Enabled, Alias: r.Alias, AgentText: r.AgentText, Tags: r.Tags, CallsPerMinute: r.CallsPerMinute, CallsPerDay: r.CallsPerDay, FirstSeenAt: r.FirstSeenAt, LastSeenAt: r.LastSeenAt, ChangedAt: r.ChangedAt, RemovedAt: r.RemovedAt,
		},
		Shadowed: r.Shadowed, Slug: r.Slug, ConnectorName: r.ConnectorName, ToolsLastSyncedAt: r.ToolsLastSyncedAt,
		Raw: r.Raw, Title: r.Title, Description: r.Description,
	})
}

func toolOf(row dbgen.ToolRow) connectors.Tool {
	r := row.Tool
	tool := connectors.Tool{
		ConnectorID:   r.ConnectorID,
		ConnectorSlug: row.Slug,
		ConnectorName: row.ConnectorName,
		Definition:    connectors.Definition{Name: r.Name, Raw: row.Raw, Hash: *hashOf(r.CurrentHash)},
		Title:         row.Title,
		Description:   row.Description,
		Curation:      connectors.Curation{Enabled: r.Enabled, Alias: r.Alias, AgentText: r.AgentText, Tags: r.Tags, Quota: quotaOf(r.CallsPerMinute, r.CallsPerDay)},
		Shadowed:      row.Shadowed,
		Review:        r.Review,
		FirstSeenAt:   r.FirstSeenAt.UTC(),
		LastSeenAt:    r.LastSeenAt.UTC(),
		ChangedAt:     r.ChangedAt.UTC(),
		RemovedAt:     utc(r.RemovedAt),
	}
	// A tool that is there was seen by the connector's last successful sync, whether or not that wrote to its row.
	if r.RemovedAt == nil && row.ToolsLastSyncedAt != nil {
		tool.LastSeenAt = row.ToolsLastSyncedAt.UTC()
	}
	return tool
}
