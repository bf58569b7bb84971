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

// List lists tools of one connector or all, by default by name. The query matches words of name, title and
// description, and prefixes of names; between slashes it is a regular expression for them, else an Invalid fault. A page ends early at [MaxPageBytes] of definitions.
func (t Tools) List(ctx context.Context, f ToolFilter) (list List[connectors.Tool], err error) {
	if f.Order = f.Order.restrictTo(ToolOrders); !f.Order.isDefault() {
		err = t.asTenant().Snapshot(ctx, func(tx *Tenant) error {
			list, err = tx.toolsOrdered(ctx, f)
			return err
		})
		return list, err
	}
	name, id, err := f.afterNamed("tools")
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	words, pattern, err := splitToolQuery(f.Query)
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	rows, err := t.q.Tools(ctx, dbgen.ToolsParams{
		TenantID:       t.id,
		Connector:      f.connectorUUID(),
		Removed:        f.Removed,
		Tag:            strings.ToLower(strings.TrimSpace(cleanText(f.Tag))),
		State:          string(f.State),
		Says:           hintPattern(f.Hint),
		Query:          words,
		Prefix:         prefixPattern(words),
		Pattern:        pattern,
		AfterName:      name,
		AfterConnector: id,
		MaxRows:        f.rowLimit(),
		MaxBytes:       MaxPageBytes,
	})
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	at := func(r dbgen.ToolsRow) []string { return []string{r.Name, r.ConnectorID.String()} }
	return newListUntil(f.Page, rows, toListedTool, "tools", at, func(r dbgen.ToolsRow) bool { return r.More }), nil
}

// Count counts the tools of all pages of List.
func (t Tools) Count(ctx context.Context, f ToolFilter) (int, error) {
	words, pattern, err := splitToolQuery(f.Query)
	if err != nil {
		return 0, err
	}
	n, err := t.q.CountTools(ctx, dbgen.CountToolsParams{
		TenantID: t.id, Connector: f.connectorUUID(), Removed: f.Removed, Tag: strings.ToLower(strings.TrimSpace(cleanText(f.Tag))),
		State: string(f.State), Says: hintPattern(f.Hint), Query: words, Prefix: prefixPattern(words), Pattern: pattern,
	})
	return int(n), err
}

func (f ToolFilter) connectorUUID() *uuid.UUID {
	if f.Connector == nil {
		return nil
	}
	return &f.Connector.UUID
}

// Get reads one tool, even if removed.
func (t Tools) Get(ctx context.Context, id connectors.ConnectorID, name string) (connectors.Tool, error) {
	row, err := t.q.Tool(ctx, t.id, id, cleanText(name))
	if err != nil {
		return connectors.Tool{}, rowError(err, "tool")
	}
	return toTool(row), nil
}

// Quarantined lists the malformed entries of a connector's last list, in list order. Pages end early as those
// of Tools do.
func (t Tools) Quarantined(ctx context.Context, id connectors.ConnectorID, p Page) (List[connectors.Quarantined], error) {
	at, err := p.parseCursor("quarantined", 1)
	if err != nil {
		return List[connectors.Quarantined]{}, err
	}
	after := int64(0)
	if at != nil {
		if after, err = strconv.ParseInt(at[0], 10, 32); err != nil {
			return List[connectors.Quarantined]{}, newCursorError(err)
		}
	}
	rows, err := t.q.Quarantined(ctx, dbgen.QuarantinedParams{
		TenantID: t.id, ConnectorID: id, AfterPosition: int32(after), MaxRows: p.rowLimit(), MaxBytes: MaxPageBytes,
	})
	if err != nil {
		return List[connectors.Quarantined]{}, err
	}
	item := func(r dbgen.QuarantinedRow) connectors.Quarantined {
		return connectors.Quarantined{Name: r.Name, Reason: r.Reason, Raw: r.Raw}
	}
	position := func(r dbgen.QuarantinedRow) []string { return []string{strconv.Itoa(int(r.Position))} }
	return newListUntil(p, rows, item, "quarantined", position, func(r dbgen.QuarantinedRow) bool { return r.More }), nil
}

// hintPattern matches definitions in which a hint is true, for known hints only. In JSON strings a quote has a
// backslash before it, so they do not match.
func hintPattern(hint connectors.Hint) string {
	if !slices.Contains(connectors.ToolHints, hint) {
		return ""
	}
	return `[^\\]"` + string(hint) + `"\s*:\s*true`
}

func toListedTool(r dbgen.ToolsRow) connectors.Tool {
	return toTool(dbgen.ToolRow{
		Tool: dbgen.Tool{
			ConnectorID: r.ConnectorID, Name: r.Name, CurrentHash: r.CurrentHash, Review: connectors.Review(r.Review),
			Enabled: r.Enabled, Alias: r.Alias, AgentText: r.AgentText, Tags: r.Tags, CallsPerMinute: r.CallsPerMinute, CallsPerDay: r.CallsPerDay, FirstSeenAt: r.FirstSeenAt, LastSeenAt: r.LastSeenAt, ChangedAt: r.ChangedAt, RemovedAt: r.RemovedAt,
		},
		Shadowed: r.Shadowed, Slug: r.Slug, ConnectorName: r.ConnectorName, ToolsLastSyncedAt: r.ToolsLastSyncedAt,
		Raw: r.Raw, Title: r.Title, Description: r.Description,
	})
}

func toTool(row dbgen.ToolRow) connectors.Tool {
	r := row.Tool
	tool := connectors.Tool{
		ConnectorID:   r.ConnectorID,
		ConnectorSlug: row.Slug,
		ConnectorName: row.ConnectorName,
		Definition:    connectors.Definition{Name: r.Name, Raw: row.Raw, Hash: *toHash(r.CurrentHash)},
		Title:         row.Title,
		Description:   row.Description,
		Curation:      connectors.Curation{Enabled: r.Enabled, Alias: r.Alias, AgentText: r.AgentText, Tags: r.Tags, Quota: toQuota(r.CallsPerMinute, r.CallsPerDay)},
		Shadowed:      row.Shadowed,
		Review:        r.Review,
		FirstSeenAt:   r.FirstSeenAt.UTC(),
		LastSeenAt:    r.LastSeenAt.UTC(),
		ChangedAt:     r.ChangedAt.UTC(),
		RemovedAt:     toUTC(r.RemovedAt),
	}
	// An existing tool was seen by the connector's last successful sync, even if that did not write its row.
	if r.RemovedAt == nil && row.ToolsLastSyncedAt != nil {
		tool.LastSeenAt = row.ToolsLastSyncedAt.UTC()
	}
	return tool
}
