package connectors

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorTools lists a connector's tools and its quarantined ones.
func (h *Handler) connectorTools(w http.ResponseWriter, r *http.Request) error {
	var (
		c           connectors.Connector
		filter      store.ToolFilter
		form        templates.Form
		tools       store.List[connectors.Tool]
		quarantined store.List[connectors.Quarantined]
		tags        []string
		total       int
	)
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		filter, form = toolpages.ToolQuery(r, &c.ID)
		if tools, err = tx.Tools().List(r.Context(), filter); err != nil {
			return err
		}
		if filter.Query == "" { // the search itself is the larger part of such a page
			if total, err = tx.Tools().Count(r.Context(), filter); err != nil {
				return err
			}
		}
		if quarantined, err = tx.Tools().Quarantined(r.Context(), c.ID, store.Page{}); err != nil {
			return err
		}
		tags, err = tx.Tools().Tags(r.Context(), c.ID)
		return err
	})
	if err != nil {
		return err
	}
	pager := shell.WithTotal(shell.NewPager(r, tools.Next, len(tools.Items)), total)
	page := templates.ConnectorToolsPage{
		Frame:    h.ConnectorFrame(r, c, i18n.T(r.Context(), "Tools")),
		Head:     ConnectorHead(r.Context(), c, templates.TabTools, h.ConnectorMark(c)),
		Filter:   form,
		Filtered: filter.Query != "" || filter.Tag != "" || filter.State != "" || filter.Hint != "",
		States:   toolpages.StateOptions(r.Context()),
		Hints:    toolpages.HintOptions(r.Context()),
		Tags:     tagOptions(r.Context(), tags),
		Count:    shell.FormatCount(r.Context(), len(tools.Items), pager, "%s tool", "%s tools"),
		Pager:    pager,
		Synced:   c.ToolsLastSyncedAt != nil,
	}
	page.Bulk = toolpages.NewToolBulk(r, c, page.Frame.Can)
	page.Old = staleToolsAttention(r.Context(), c, h.Now())
	page.Rows = h.ToolPages.ToolViews(r.Context(), tools.Items)
	for i := range page.Rows {
		page.Rows[i].Chosen = page.Bulk != nil && page.Bulk.All
	}
	for _, q := range quarantined.Items {
		page.Quarantined = append(page.Quarantined, toolpages.QuarantinedTool(r.Context(), q))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorTools(page))
}

func tagOptions(ctx context.Context, tags []string) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "Any tag")}}
	for _, tag := range tags {
		options = append(options, templates.Option{Value: tag, Label: "#" + tag})
	}
	return options
}
