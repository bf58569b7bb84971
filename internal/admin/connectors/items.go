package connectors

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorPrompts lists a connector's prompts.
func (h *Handler) connectorPrompts(w http.ResponseWriter, r *http.Request) error {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	var c connectors.Connector
	var prompts store.List[connectors.StoredItem]
	var total int
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		prompts, total, err = tx.Connectors().ItemPage(r.Context(), store.ItemFilter{Connector: c.ID, Kind: connectors.ItemPrompt, Query: query, Page: shell.ReadPage(r)})
		return err
	})
	if err != nil {
		return err
	}
	pager := shell.WithTotal(shell.NewPager(r, prompts.Next, len(prompts.Items)), total)
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorPrompts(templates.ConnectorPromptsPage{
		Frame:    h.ConnectorFrame(r, c, i18n.T(r.Context(), "Prompts")),
		Head:     ConnectorHead(r.Context(), c, templates.TabPrompts, h.ConnectorMark(c)),
		Filter:   templates.Form{Values: map[string]string{"q": query}},
		Filtered: query != "",
		Synced:   c.ToolsLastSyncedAt != nil,
		Pager:    pager,
		Prompts: templates.ItemTable{
			Title: i18n.T(r.Context(), "Prompts"), First: i18n.T(r.Context(), "Name"), Rows: h.itemRows(r.Context(), prompts.Items),
			Count: shell.FormatCount(r.Context(), len(prompts.Items), pager, "%s prompt", "%s prompts"),
		},
	}))
}

// connectorResources lists a connector's resources, the first 200 of its resource templates, and its skills.
func (h *Handler) connectorResources(w http.ResponseWriter, r *http.Request) error {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	var c connectors.Connector
	var resources, all store.List[connectors.StoredItem]
	var skills []connectors.Skill
	var total int
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		f := store.ItemFilter{Connector: c.ID, Kind: connectors.ItemResource, Query: query, Page: shell.ReadPage(r)}
		if resources, total, err = tx.Connectors().ItemPage(r.Context(), f); err != nil {
			return err
		}
		f.Kind, f.Page = connectors.ItemTemplate, store.Page{Limit: store.MaxLimit}
		if all, err = tx.Connectors().ListItems(r.Context(), f); err != nil || query != "" {
			return err
		}
		skills, err = tx.Skills().List(r.Context(), c.ID)
		return err
	})
	if err != nil {
		return err
	}
	pager := shell.WithTotal(shell.NewPager(r, resources.Next, len(resources.Items)), total)
	page := templates.ConnectorResourcesPage{
		Frame:    h.ConnectorFrame(r, c, i18n.T(r.Context(), "Resources")),
		Head:     ConnectorHead(r.Context(), c, templates.TabResources, h.ConnectorMark(c)),
		Filter:   templates.Form{Values: map[string]string{"q": query}},
		Filtered: query != "",
		Synced:   c.ToolsLastSyncedAt != nil,
		Pager:    pager,
		Resources: templates.ItemTable{
			Title: i18n.T(r.Context(), "Resources"), First: i18n.T(r.Context(), "URI"), Rows: h.itemRows(r.Context(), resources.Items),
			Count: shell.FormatCount(r.Context(), len(resources.Items), pager, "%s resource", "%s resources"),
		},
		Templates: templates.ItemTable{
			Title: i18n.T(r.Context(), "Resource templates"), First: i18n.T(r.Context(), "URI template"), Rows: h.itemRows(r.Context(), all.Items),
			Count: i18n.N(r.Context(), len(all.Items), "%s resource template", "%s resource templates"),
		},
		Skills: templates.ItemTable{
			Title: i18n.T(r.Context(), "Skills"), First: i18n.T(r.Context(), "URI"), Rows: h.skillRows(r.Context(), c, skills),
			Count: i18n.N(r.Context(), len(skills), "%s skill", "%s skills"),
		},
	}
	if all.Next != "" {
		page.More = i18n.T(r.Context(), "Showing the first %s. Filter to find others.", i18n.Number(r.Context(), store.MaxLimit))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorResources(page))
}

func (h *Handler) itemRows(ctx context.Context, items []connectors.StoredItem) []templates.ItemRow {
	rows := make([]templates.ItemRow, len(items))
	for i, item := range items {
		changed := shell.NewWhen(ctx, item.ChangedAt, h.Now())
		rows[i] = shell.NewItemRow(ctx, item.Item)
		rows[i].Changed = &changed
		if defect := agentview.ItemDefect(item.Item); defect != "" {
			rows[i].Badges = append(rows[i].Badges, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "malformed"), Title: i18n.TranslateKnown(ctx, defect)})
		}
	}
	return rows
}

// maxShownFiles bounds the files that a skill's row names.
const maxShownFiles = 8

func (h *Handler) skillRows(ctx context.Context, c connectors.Connector, skills []connectors.Skill) []templates.ItemRow {
	rows := make([]templates.ItemRow, len(skills))
	for i, s := range skills {
		entry, changed := connectors.DecodeSkill(s.Current.Raw), shell.NewWhen(ctx, s.ChangedAt, h.Now())
		rows[i] = templates.ItemRow{
			Key: shell.CleanText(s.URI), Title: s.Name(), About: shell.ShortenText(shell.CleanText(entry.Description()), shell.MaxName), Changed: &changed,
			Href: shell.ReviewedPath(c.Slug, connectors.SkillTool(s.URI)) + "/changes",
		}
		for _, f := range entry.Files[:min(len(entry.Files), maxShownFiles)] {
			name := strings.TrimPrefix(f.URI, connectors.SkillRoot(s.URI)+"/")
			rows[i].Details = append(rows[i].Details, shell.CleanText(name)+" · "+shell.FormatBytes(ctx, f.Size))
		}
		if more := len(entry.Files) - maxShownFiles; more > 0 {
			rows[i].Details = append(rows[i].Details, i18n.N(ctx, more, "%s more", "%s more"))
		}
		if s.Review != connectors.ReviewAccepted {
			rows[i].Badges = []templates.Badge{{Kind: templates.BadgeWarn, Text: i18n.T(ctx, skillReviews[s.Review]), Title: i18n.T(ctx, "Agents get files only as accepted. A changed file is refused until an admin accepts it.")}}
		}
	}
	return rows
}

var skillReviews = map[connectors.Review]i18n.Key{
	connectors.ReviewNew: "waits for review", connectors.ReviewChanged: "changed, waits for review", connectors.ReviewRejected: "rejected",
}

// kindNames are the nouns of counts and changes.
type kindNames struct {
	kind       connectors.ItemKind
	one, other i18n.Key
	changes    i18n.Key
}

var itemKindNames = []kindNames{
	{connectors.ItemPrompt, "%s prompt", "%s prompts", "Prompts: %s"},
	{connectors.ItemResource, "%s resource", "%s resources", "Resources: %s"},
	{connectors.ItemTemplate, "%s resource template", "%s resource templates", "Resource templates: %s"},
}

// itemTotals is "3 prompts, 5 resources"; empty: none, or not known.
func itemTotals(ctx context.Context, counts *connectors.ItemCounts) string {
	if counts == nil {
		return ""
	}
	var totals []string
	for _, n := range itemKindNames {
		if total := counts.Of(n.kind).Total; total > 0 {
			totals = append(totals, i18n.N(ctx, total, n.one, n.other))
		}
	}
	return strings.Join(totals, ", ")
}

// itemChanges are "Prompts: 1 added, 2 changed" and the like; empty: none, or not known.
func itemChanges(ctx context.Context, counts *connectors.ItemCounts) []string {
	if counts == nil {
		return nil
	}
	var all []string
	for _, n := range itemKindNames {
		var parts []string
		for _, part := range []struct {
			n    int
			text i18n.Key
		}{{counts.Of(n.kind).Added, "%s added"}, {counts.Of(n.kind).Changed, "%s changed"}, {counts.Of(n.kind).Removed, "%s removed"}} {
			if part.n > 0 {
				parts = append(parts, i18n.T(ctx, part.text, i18n.Number(ctx, part.n)))
			}
		}
		if len(parts) > 0 {
			all = append(all, i18n.T(ctx, n.changes, strings.Join(parts, ", ")))
		}
	}
	return all
}
