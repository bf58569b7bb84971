package agents

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// maxShownItems bounds the rows of each table.
const maxShownItems = 200

// agentItems lists the prompts, resources and templates that an agent sees, under the names it sees.
func (h *Handler) agentItems(w http.ResponseWriter, r *http.Request) error {
	view, err := h.Access.LoadUncached(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	ctx, query := r.Context(), strings.TrimSpace(r.URL.Query().Get("q"))
	table := func(kind connectors.ItemKind, title, first string) templates.ItemTable {
		t := newAgentItemTable(ctx, view, kind, query)
		t.Title, t.First = title, first
		return t
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.AgentItems(templates.AgentItemsPage{
		Frame:     h.agentFrame(r, view.Agent, i18n.T(ctx, "Prompts and resources")),
		Head:      agentHead(ctx, view.Agent, templates.AgentItemsTab),
		Filter:    templates.Form{Values: map[string]string{"q": query}},
		Filtered:  query != "",
		Pager:     shell.NewPager(r, "", 0),
		Prompts:   table(connectors.ItemPrompt, i18n.T(ctx, "Prompts"), i18n.T(ctx, "Name shown to the agent")),
		Resources: table(connectors.ItemResource, i18n.T(ctx, "Resources"), i18n.T(ctx, "URI shown to the agent")),
		Templates: table(connectors.ItemTemplate, i18n.T(ctx, "Resource templates"), i18n.T(ctx, "URI template shown to the agent")),
	}))
}

func newAgentItemTable(ctx context.Context, view *agentview.View, kind connectors.ItemKind, query string) (t templates.ItemTable) {
	matching := matchingItems(view, kind, query)
	for _, item := range matching[:min(len(matching), maxShownItems)] {
		t.Rows = append(t.Rows, agentItemRow(ctx, view.Agent, item))
	}
	t.Count = i18n.Number(ctx, len(matching))
	if len(matching) > maxShownItems {
		t.Count = i18n.T(ctx, "first %s of %s", i18n.Number(ctx, maxShownItems), i18n.Number(ctx, len(matching)))
	}
	return t
}

// matchingItems are the agent's items of one kind that have the text.
func matchingItems(view *agentview.View, kind connectors.ItemKind, query string) []agentview.AgentItem {
	return slices.DeleteFunc(view.Items(kind), func(item agentview.AgentItem) bool {
		return query != "" && !item.Matches(query) && !strings.Contains(strings.ToLower(item.Exposed), strings.ToLower(query))
	})
}

func agentItemRow(ctx context.Context, a connectors.Agent, item agentview.AgentItem) templates.ItemRow {
	row, c := shell.NewItemRow(ctx, item.Item), item.Connector.Connector
	row.Key, row.Connector, row.Href = shell.ShortenText(item.Exposed, shell.MaxNote), c.Name, grantPath(a.Slug, c.Slug)
	row.State = templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Usable")}
	if !item.Usable {
		row.State = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Refused")}
	}
	return row
}

// grantedItems says which prompts and resources a grant includes; empty: none.
func grantedItems(ctx context.Context, g connectors.Grant) string {
	prompts := g.IncludesItems(connectors.ItemPrompt)
	switch resources := g.Resources; {
	case prompts && resources == connectors.ResourcesListedTemplates:
		return i18n.T(ctx, "Prompts, resources and templates")
	case prompts && resources == connectors.ResourcesListed:
		return i18n.T(ctx, "Prompts and listed resources")
	case prompts:
		return i18n.T(ctx, "Prompts")
	case resources == connectors.ResourcesListedTemplates:
		return i18n.T(ctx, "Resources and templates")
	case resources == connectors.ResourcesListed:
		return i18n.T(ctx, "Listed resources")
	}
	return ""
}

// itemNotes say what a grant's choices of prompts and resources mean now.
func itemNotes(ctx context.Context, g grantState) []string {
	if !g.exists {
		return []string{i18n.T(ctx, "Default: all if you grant all tools, otherwise none.")}
	}
	granted := grantedItems(ctx, g.grant)
	notes := []string{i18n.T(ctx, "Includes: %s.", i18n.Lower(ctx, granted))}
	switch {
	case granted == "":
		return []string{i18n.T(ctx, "No prompts or resources included.")}
	case g.grant.LeavesItemsUnasked(g.agent.Approval):
		notes = append(notes, i18n.T(ctx, "They need no approval unless the approval rule includes them."))
	case !g.grant.AllTools && g.grant.Prompts == connectors.PromptsListed && g.grant.Resources == connectors.ResourcesListedTemplates:
		notes = append(notes, i18n.T(ctx, "Access granted earlier includes all of them, even with selected tools. Remove what the agent doesn't need."))
	}
	return notes
}

func promptChoices(ctx context.Context, exists bool) []templates.Option {
	return withDefault(ctx, exists,
		templates.Option{Value: string(connectors.PromptsNone), Label: i18n.T(ctx, "None")},
		templates.Option{Value: string(connectors.PromptsListed), Label: i18n.T(ctx, "All listed")})
}

func resourceChoices(ctx context.Context, exists bool) []templates.Option {
	return withDefault(ctx, exists,
		templates.Option{Value: string(connectors.ResourcesNone), Label: i18n.T(ctx, "None")},
		templates.Option{Value: string(connectors.ResourcesListed), Label: i18n.T(ctx, "All listed")},
		templates.Option{Value: string(connectors.ResourcesListedTemplates), Label: i18n.T(ctx, "Listed or matching a template")})
}

// withDefault adds the default of a new grant.
func withDefault(ctx context.Context, exists bool, choices ...templates.Option) []templates.Option {
	if exists {
		return choices
	}
	return append([]templates.Option{{Value: "", Label: i18n.T(ctx, "Default")}}, choices...)
}
