package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// toolShow shows one tool, as its server defines it.
func (h *Handler) toolShow(w http.ResponseWriter, r *http.Request) error {
	tenant := h.tenant(r)
	c, err := tenant.Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	t, err := tenant.Tool(r.Context(), c.ID, pathValue(r, "tool"))
	if err != nil {
		return err
	}
	view := toolView(t, onPage, h.now())
	frame := h.frame(r, templates.NavConnectors,
		crumb("Connectors", "/connectors"),
		crumb(c.Name, connectorPath(c.Slug)+"/tools"),
		templates.Crumb{Text: view.Name, Mono: true})
	return h.respond.Page(w, r, http.StatusOK, templates.Tool(templates.ToolPage{
		Frame: frame,
		Tool:  view,
		About: toolFacts(c, t, view),
	}))
}

func toolFacts(c connectors.Connector, t connectors.Tool, view templates.ToolView) []templates.Fact {
	facts := []templates.Fact{
		{Label: "Connector", Value: c.Name, Href: connectorPath(c.Slug)},
		{Label: "Exposed as", Value: connectors.ExposedName(c.Slug, t.Name), Mono: true, Copy: true},
		{Label: "First seen", When: &view.FirstSeen},
		{Label: "Last change", When: &view.Changed},
		{Label: "Last seen", When: &view.LastSeen},
	}
	if view.Removed != nil {
		facts = append(facts, templates.Fact{Label: "Removed", When: view.Removed})
	}
	return append(facts, templates.Fact{Label: "SHA-256", Value: t.Hash.String(), Mono: true, Copy: true})
}
