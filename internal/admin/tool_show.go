package admin

import (
	"net/http"
	"net/url"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// tried is a tool that is shown, and what is needed to try it.
type tried struct {
	connectors.Tool
	connector connectors.Connector
	decoded   connectors.ToolView
	agents    []store.AgentChoice
	form      toolForm
}

// toolShow shows one tool, as its server defines it, and the form that tries it. The form begins with the arguments of a call, where
// the address names one.
func (h *Handler) toolShow(w http.ResponseWriter, r *http.Request) error {
	tool, err := h.tried(r)
	if err != nil {
		return err
	}
	t := trial{tool: tool, agent: r.URL.Query().Get("agent"), asJSON: tool.form.only != "", values: tool.form.defaults()}
	if err := h.again(r, &t); err != nil {
		return err
	}
	return h.triedPage(w, r, http.StatusOK, t)
}

func (h *Handler) tried(r *http.Request) (t tried, err error) {
	tenant := h.tenant(r)
	if t.connector, err = tenant.Connector(r.Context(), ref(r, "id")); err != nil {
		return t, err
	}
	if t.Tool, err = tenant.Tool(r.Context(), t.connector.ID, pathValue(r, "tool")); err != nil {
		return t, err
	}
	if t.agents, err = tenant.AgentsGranted(r.Context(), t.connector.ID, t.Name); err != nil {
		return t, err
	}
	t.decoded = connectors.DecodeTool(t.Raw)
	t.form = newToolForm(t.decoded.InputSchema)
	return t, nil
}

// again fills a trial with the arguments of a call, as far as they were kept.
func (h *Handler) again(r *http.Request, t *trial) error {
	id, ok := connectors.Ref(r.URL.Query().Get("call")).UUID()
	if !ok {
		return nil
	}
	call, err := h.tenant(r).ToolCall(r.Context(), connectors.ToolCallID{UUID: id})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	t.agent = call.AgentSlug
	if len(call.Arguments) > 0 {
		t.turn("json", call.Arguments)
		t.turn("form", call.Arguments)
		t.form.Problem = ""
	}
	return nil
}

func (h *Handler) triedPage(w http.ResponseWriter, r *http.Request, status int, t trial) error {
	view := toolView(t.tool.Tool, onPage, h.now())
	c := t.tool.connector
	frame := h.frame(r, templates.NavConnectors,
		crumb("Connectors", "/connectors"),
		crumb(c.Name, connectorPath(c.Slug)+"/tools"),
		templates.Crumb{Text: view.Name, Mono: true})
	page := templates.ToolPage{
		Frame:  frame,
		Tool:   view,
		About:  toolFacts(c, t.tool.Tool, view),
		Input:  indent(t.tool.decoded.InputSchema, onPage.json),
		Output: indent(t.tool.decoded.OutputSchema, onPage.json),
	}
	if frame.Can.Sync {
		page.Try = t.view(frame.Can)
	}
	return h.respond.Page(w, r, status, templates.Tool(page))
}

func toolFacts(c connectors.Connector, t connectors.Tool, view templates.ToolView) []templates.Fact {
	facts := []templates.Fact{
		{Label: "Connector", Value: c.Name, Href: connectorPath(c.Slug)},
		{Label: "Exposed as", Value: connectors.ExposedName(c.Slug, t.Name), Mono: true, Copy: true},
		{Label: "Calls", Value: "Show", Href: "/calls?" + url.Values{"connector": {c.Slug}, "tool": {t.Name}}.Encode()},
		{Label: "First seen", When: &view.FirstSeen},
		{Label: "Last change", When: &view.Changed},
		{Label: "Last seen", When: &view.LastSeen},
	}
	if view.Removed != nil {
		facts = append(facts, templates.Fact{Label: "Removed", When: view.Removed})
	}
	return append(facts, templates.Fact{Label: "SHA-256", Value: t.Hash.String(), Mono: true, Copy: true})
}
