package store

import (
	"context"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// CuratedTool is an admin's overrides of a tool.
type CuratedTool struct {
	connectors.Curation
	Name    string
	Removed bool
}

// Named returns the tool's names.
func (t CuratedTool) Named() connectors.ToolNames {
	return connectors.ToolNames{Name: t.Name, Alias: t.Alias, Removed: t.Removed}
}

// Lock locks a connector's tools against other changes and ending syncs until the transaction ends.
func (t Tools) Lock(ctx context.Context, id connectors.ConnectorID) error {
	_, err := t.q.LockConnector(ctx, t.id, id)
	return rowError(err, "connector")
}

// Curated lists the overrides of a connector's tools by name, including removed tools.
func (t Tools) Curated(ctx context.Context, id connectors.ConnectorID) ([]CuratedTool, error) {
	rows, err := t.q.CuratedTools(ctx, t.id, id)
	if err != nil {
		return nil, err
	}
	return mapRows(rows, func(r dbgen.CuratedToolsRow) CuratedTool {
		return CuratedTool{
			Name: r.Name, Removed: r.Removed,
			Curation: connectors.Curation{
				Enabled: r.Enabled, Alias: r.Alias, AgentText: r.AgentText, Tags: r.Tags, Quota: toQuota(r.CallsPerMinute, r.CallsPerDay),
			},
		}
	}), nil
}

// Curate stores overrides. Agents see them at once in every process. A name of another tool of the
// connector is a Conflict. Unknown tools are ignored.
func (t Tools) Curate(ctx context.Context, id connectors.ConnectorID, tools []CuratedTool) error {
	p := dbgen.CurateToolsParams{TenantID: t.id, ConnectorID: id}
	for _, tool := range tools {
		p.Names = append(p.Names, cleanText(tool.Name))
		p.Enabled = append(p.Enabled, tool.Enabled)
		p.Aliases = append(p.Aliases, cleanText(tool.Alias))
		p.AgentTexts = append(p.AgentTexts, cleanText(tool.AgentText))
		p.Tags = append(p.Tags, strings.Join(tool.Tags, " "))
		p.CallsPerMinutes = append(p.CallsPerMinutes, int32(tool.Quota.PerMinute))
		p.CallsPerDays = append(p.CallsPerDays, int32(tool.Quota.PerDay))
	}
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.Tools().Lock(ctx, id); err != nil {
			return err
		}
		if err := tx.q.FreeAliases(ctx, tx.id, id, p.Names); err != nil {
			return err
		}
		return tx.notifyChange(tx.q.CurateTools(ctx, p), "connector", id)
	})
}

// Tags lists the tags of a connector's tools, sorted.
func (t Tools) Tags(ctx context.Context, id connectors.ConnectorID) ([]string, error) {
	tags, err := t.q.ToolTags(ctx, t.id, id)
	slices.Sort(tags)
	return tags, err
}
