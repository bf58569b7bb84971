package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorTools lists the tools of one connector, and what of its list is no tool.
func (h *Handler) connectorTools(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenant(r)
	c, err := tenant.Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	filter, form := toolQuery(r, c)
	tools, err := tenant.Tools(r.Context(), filter)
	if err != nil {
		return err
	}
	quarantined, err := tenant.Quarantined(r.Context(), c.ID, store.Page{})
	if err != nil {
		return err
	}
	tags, err := tenant.ToolTags(r.Context(), c.ID)
	if err != nil {
		return err
	}
	page := templates.ConnectorToolsPage{
		Frame:    h.connectorFrame(r, c, "Tools"),
		Head:     connectorHead(c, templates.TabTools),
		Filter:   form,
		Filtered: filter.Query != "" || filter.Tag != "" || filter.State != "" || filter.Hint != "",
		States:   standingOptions(),
		Hints:    hintOptions(),
		Tags:     tagOptions(tags),
		Count:    countOf(len(tools.Items), pager(r, tools.Next), "tool"),
		Pager:    pager(r, tools.Next),
		Synced:   c.ToolsLastSyncedAt != nil,
	}
	page.Bulk = bulk(r, c, page.Frame.Can)
	page.Old = oldTools(c, h.now())
	page.Rows = h.toolViews(tools.Items)
	for i := range page.Rows {
		page.Rows[i].Chosen = page.Bulk != nil && page.Bulk.All
	}
	for _, q := range quarantined.Items {
		page.Quarantined = append(page.Quarantined, quarantinedTool(q))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.ConnectorTools(page))
}

func (h *Handler) toolViews(tools []connectors.Tool) []templates.ToolView {
	views := make([]templates.ToolView, len(tools))
	for i, t := range tools {
		views[i] = toolView(t, inList, h.now())
	}
	return views
}

func standingOptions() []templates.Option {
	names := map[connectors.ToolStanding]string{
		connectors.StandingEnabled: "Enabled", connectors.StandingDisabled: "Disabled", connectors.StandingChanged: "Changed",
		connectors.StandingHeld: "Held", connectors.StandingCurated: "Renamed or re-described",
	}
	options := []templates.Option{{Value: "", Label: "Any state"}}
	for _, s := range connectors.ToolStandings {
		options = append(options, templates.Option{Value: string(s), Label: names[s]})
	}
	return options
}

func hintOptions() []templates.Option {
	names := map[connectors.Hint]string{
		connectors.HintReadOnly: "Says read-only", connectors.HintDestructive: "Says destructive",
		connectors.HintIdempotent: "Says idempotent", connectors.HintOpenWorld: "Says open world",
	}
	options := []templates.Option{{Value: "", Label: "Any annotation"}}
	for _, hint := range connectors.ToolHints {
		options = append(options, templates.Option{Value: string(hint), Label: names[hint]})
	}
	return options
}

func tagOptions(tags []string) []templates.Option {
	options := []templates.Option{{Value: "", Label: "Any tag"}}
	for _, tag := range tags {
		options = append(options, templates.Option{Value: tag, Label: "#" + tag})
	}
	return options
}
