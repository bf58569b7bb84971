package store

import (
	"context"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// CuratedTool is what an admin says of a tool.
type CuratedTool struct {
	connectors.Curation
	Name    string
	Removed bool
}

// Named is what the tool is called.
func (t CuratedTool) Named() connectors.Named {
	return connectors.Named{Name: t.Name, Alias: t.Alias, Removed: t.Removed}
}

// LockTools keeps everybody else, and the ends of syncs, from changing a connector's tools until the transaction's end.
func (t *Tenant) LockTools(ctx context.Context, id connectors.ConnectorID) error {
	_, err := t.q.LockConnector(ctx, t.id, id)
	return found(err, "connector")
}

// CuratedTools is what admins say of a connector's tools, removed ones too, by name.
func (t *Tenant) CuratedTools(ctx context.Context, id connectors.ConnectorID) ([]CuratedTool, error) {
	rows, err := t.q.CuratedTools(ctx, t.id, id)
	if err != nil {
		return nil, err
	}
	return each(rows, func(r dbgen.CuratedToolsRow) CuratedTool {
		return CuratedTool{
			Name: r.Name, Removed: r.Removed,
			Curation: connectors.Curation{
				Enabled: r.Enabled, Alias: r.Alias, AgentText: r.AgentText, Tags: r.Tags, Quota: quotaOf(r.CallsPerMinute, r.CallsPerDay),
			},
		}
	}), nil
}

// CurateTools writes what an admin says of tools. Agents see it at once, in every process. A name that another tool of the connector has
// is a Conflict. Tools that are not there are left out.
func (t *Tenant) CurateTools(ctx context.Context, id connectors.ConnectorID, tools []CuratedTool) error {
	p := dbgen.CurateToolsParams{TenantID: t.id, ConnectorID: id}
	for _, tool := range tools {
		p.Names = append(p.Names, clean(tool.Name))
		p.Enabled = append(p.Enabled, tool.Enabled)
		p.Aliases = append(p.Aliases, clean(tool.Alias))
		p.AgentTexts = append(p.AgentTexts, clean(tool.AgentText))
		p.Tags = append(p.Tags, strings.Join(tool.Tags, " "))
		p.CallsPerMinutes = append(p.CallsPerMinutes, int32(tool.Quota.PerMinute))
		p.CallsPerDays = append(p.CallsPerDays, int32(tool.Quota.PerDay))
	}
	return t.within(ctx, func(tx *Tenant) error {
		if err := tx.LockTools(ctx, id); err != nil {
			return err
		}
		if err := tx.q.FreeAliases(ctx, tx.id, id, p.Names); err != nil {
			return err
		}
		return tx.says(tx.q.CurateTools(ctx, p), "connector", id)
	})
}

// ToolTags are the tags that a connector's tools have, sorted.
func (t *Tenant) ToolTags(ctx context.Context, id connectors.ConnectorID) ([]string, error) {
	tags, err := t.q.ToolTags(ctx, t.id, id)
	slices.Sort(tags)
	return tags, err
}
