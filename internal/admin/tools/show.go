package tools

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// testedTool is a tool with what its page and trial need.
type testedTool struct {
	connectors.Tool
	connector connectors.Connector
	decoded   connectors.ToolView
	document  *schemaDocument
	agents    []store.AgentChoice // that may call it
	accounts  []store.AgentChoice // with accounts that the person may use for own calls; empty: the credential is shared
	form      toolForm
	answer    *apiAnswer // of an HTTP API; nil: the tool is an MCP server's
}

// toolShow shows one tool, as its server defines it, and the form that tries it. The form begins with the
// arguments of the call in the query, if any.
func (h *Handler) toolShow(w http.ResponseWriter, r *http.Request) error {
	tool, err := h.loadTriedTool(r)
	if err != nil {
		return err
	}
	t := trial{tool: tool, agent: r.URL.Query().Get("agent"), asJSON: tool.form.jsonOnlyReason != "", values: tool.form.defaults()}
	if err := h.fillTrialFromCall(r, &t); err != nil {
		return err
	}
	return h.toolPage(w, r, http.StatusOK, t)
}

func (h *Handler) loadTriedTool(r *http.Request) (t testedTool, err error) {
	tenant := h.TenantStore(r)
	if t.connector, err = tenant.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
		return t, err
	}
	if t.Tool, err = tenant.Tools().Get(r.Context(), t.connector.ID, shell.PathValue(r, "tool")); err != nil {
		return t, err
	}
	if t.agents, err = tenant.Agents().AgentsGranted(r.Context(), t.connector.ID, t.Name); err != nil {
		return t, err
	}
	if t.accounts, err = h.findOwnAccounts(r, t.connector); err != nil {
		return t, err
	}
	if t.answer, err = h.readAnswer(r, t.connector, t.Tool); err != nil {
		return t, err
	}
	t.decoded = connectors.DecodeTool(t.Raw)
	t.document = newDocument(t.decoded.InputSchema)
	t.form = t.document.newForm(r.Context())
	return t, nil
}

// fillTrialFromCall fills a trial with a call's stored arguments.
func (h *Handler) fillTrialFromCall(r *http.Request, t *trial) error {
	id, ok := connectors.Ref(r.URL.Query().Get("call")).UUID()
	if !ok {
		return nil
	}
	call, err := h.Calls.ReadSummary(r.Context(), shell.Actor(r), connectors.ToolCallID{UUID: id})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if t.agent = call.AgentSlug; call.AgentID == nil {
		t.agent = ownPrefix
	}
	if len(call.Arguments) > 0 {
		t.switchMode(r.Context(), "json", call.Arguments)
		t.switchMode(r.Context(), "form", call.Arguments)
		t.form.Problem = ""
	}
	return nil
}

func (h *Handler) toolPage(w http.ResponseWriter, r *http.Request, status int, t trial) error {
	detail := pageDetail
	detail.document = t.tool.document
	view := toolView(r.Context(), t.tool.Tool, detail, h.Now())
	c := t.tool.connector
	nav, root := templates.NavConnectors, shell.NewCrumb(i18n.T(r.Context(), "Connectors"), "/connectors")
	if r.URL.Query().Get("from") == "tools" {
		nav, root = templates.NavTools, shell.NewCrumb(i18n.T(r.Context(), "Tools"), "/tools")
	}
	frame := h.NewFrame(r, nav, root,
		shell.NewCrumb(c.Name, shell.ConnectorPath(c.Slug)+"/tools"),
		templates.Crumb{Text: view.Name, Mono: true})
	page := templates.ToolPage{
		Frame:  frame,
		Tool:   view,
		About:  toolFacts(r.Context(), c, t.tool.Tool, view),
		Input:  shell.IndentJSON(r.Context(), t.tool.decoded.InputSchema, shell.MaxPageJSON),
		Output: shell.IndentJSON(r.Context(), t.tool.decoded.OutputSchema, shell.MaxPageJSON),
	}
	page.Change, page.Curate = pendingChange(r.Context(), t.tool.Tool), curateForm(r.Context(), t.tool.Tool, t.curation, frame.Can)
	var err error
	if page.Curate.Used, err = h.ToolQuotaBars(r, t.tool.Tool); err != nil {
		return err
	}
	if t.tool.answer != nil {
		page.About = slices.Insert(page.About, 1, templates.Fact{Label: i18n.T(r.Context(), "Request"), Value: t.tool.answer.request, Mono: true, Copy: true})
		page.Answer = t.toAnswerView(r.Context(), frame.Can)
	}
	if frame.Can.Sync {
		page.Try = t.toView(r.Context(), frame.Can)
	}
	return h.Respond.Page(w, r, status, templates.Tool(page))
}

// pendingChange says that the tool's definition waits for a decision or was rejected.
func pendingChange(ctx context.Context, t connectors.Tool) *templates.Attention {
	a := templates.Attention{Kind: templates.StateWarn, Action: &templates.Link{Text: i18n.T(ctx, "Review change"), Href: shell.ToolPath(t.ConnectorSlug, t.Name) + "/changes"}}
	switch {
	case t.RemovedAt != nil:
		return nil
	case t.Review == connectors.ReviewChanged:
		a.Title, a.Text = i18n.T(ctx, "Tool changed"), i18n.T(ctx, "Until reviewed, agents see the old version and calls are refused.")
	case t.Review == connectors.ReviewNew:
		a.Title, a.Text = i18n.T(ctx, "New tool"), i18n.T(ctx, "Hidden from agents until an admin accepts it.")
	case t.Review == connectors.ReviewRejected:
		a.Title, a.Text = i18n.T(ctx, "Rejected"), i18n.T(ctx, "Hidden until the server reverts it or an admin accepts it.")
	case t.Review == connectors.ReviewKept:
		a.Title, a.Text = i18n.T(ctx, "Earlier version kept"), i18n.T(ctx, "Agents see and call the accepted version, though the server runs its new code.")
	default:
		return nil
	}
	return &a
}

func toolFacts(ctx context.Context, c connectors.Connector, t connectors.Tool, view templates.ToolView) []templates.Fact {
	facts := []templates.Fact{
		{Label: i18n.T(ctx, "Connector"), Value: c.Name, Href: shell.ConnectorPath(c.Slug)},
		{Label: i18n.T(ctx, "Exposed as"), Value: connectors.ExposedName(c.Slug, t.AgentName()), Mono: true, Copy: true},
		{Label: i18n.T(ctx, "Calls"), Value: i18n.T(ctx, "Show calls"), Href: "/calls?" + url.Values{"connector": {c.Slug}, "tool": {t.Name}}.Encode()},
		{Label: i18n.T(ctx, "Changes"), Value: i18n.T(ctx, "Show changes"), Href: shell.ToolPath(c.Slug, t.Name) + "/changes"},
		{Label: i18n.T(ctx, "First seen"), When: &view.FirstSeen},
		{Label: i18n.T(ctx, "Last change"), When: &view.Changed},
		{Label: i18n.T(ctx, "Last seen"), When: &view.LastSeen},
	}
	if view.Removed != nil {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Removed"), When: view.Removed})
	}
	facts = append(facts, UncheckedFacts(ctx, agentview.UncheckedParts(connectors.DecodeTool(t.Raw).InputSchema))...)
	return append(facts, templates.Fact{Label: "SHA-256", Value: t.Hash.String(), Mono: true, Copy: true})
}
