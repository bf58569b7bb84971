package agents

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolsearch"
	"patchbay/web/templates"
)

// toolListPanel shows the size of the agent's tool list, and what the search in a lean one finds.
func (h *Handler) toolListPanel(r *http.Request, view *agentview.View, q visibleToolQuery, can templates.Permissions) (*templates.ToolListPanel, error) {
	ctx := r.Context()
	full, lean := view.Size(q.provider), view.LeanSize(q.provider)
	href := shell.AgentPath(view.Agent.Slug)
	p := &templates.ToolListPanel{Text: toolListText(ctx, view), Words: q.question}
	for _, list := range []struct {
		label string
		size  agentview.Size
	}{{i18n.T(ctx, "Full list"), full}, {i18n.T(ctx, "Lean list"), lean}} {
		p.Facts = append(p.Facts, templates.Fact{Label: list.label, Value: i18n.N(ctx, list.size.Tokens, "≈ %[1]s token (%[2]s, %[3]s)", "≈ %[1]s tokens (%[2]s, %[3]s)",
			i18n.N(ctx, list.size.Tools, "%s tool", "%s tools"), toolpages.ProviderName(q.provider))})
	}
	if can.Manage {
		p.Change = &templates.Link{Text: i18n.T(ctx, "Change in settings"), Href: href + "/settings"}
	}
	if q.question == "" {
		return p, nil
	}
	searched, err := h.Access.ByAgent(ctx, view.Tenant.ID, connectors.Ref(view.Agent.ID.String())) // it keeps the index
	if err != nil {
		return nil, err
	}
	found, err := searched.FindTools(ctx, agentview.ToolSearch{Words: q.question, Limit: agentview.MaxDefined + agentview.MaxNamed})
	if err != nil {
		return nil, err
	}
	for _, t := range found {
		title, _ := titleAndHints(ctx, t.Tool)
		p.Results = append(p.Results, templates.ToolSearchRow{
			Exposed: shell.CleanText(t.Exposed), Title: title, Href: agentToolPath(view.Agent.Slug, t.Exposed),
			Reasons: matchText(ctx, t.Reasons), CallWith: t.CallWith(),
		})
	}
	p.Count = i18n.N(ctx, len(found), "%s tool found", "%s tools found")
	return p, nil
}

// toolListText says what the agent's tool list contains.
func toolListText(ctx context.Context, view *agentview.View) string {
	switch {
	case view.Lean:
		return i18n.N(ctx, len(view.PinnedTools()), "Lean: %s pinned tool, and a search for the others.", "Lean: %s pinned tools, and a search for the others.")
	case view.Agent.ToolList == connectors.ToolListAuto:
		return i18n.T(ctx, "Full: all tools, because they are few.")
	default:
		return i18n.T(ctx, "Full: all tools. Pinned tools matter only in a lean list.")
	}
}

// matchText names the words of a question and the fields with them, the strongest first.
func matchText(ctx context.Context, reasons []toolsearch.Reason) string {
	var parts []string
	for _, r := range reasons {
		part := matchedField(ctx, shell.CleanText(r.Word), r.Field)
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

func matchedField(ctx context.Context, word string, f toolsearch.Field) string {
	switch f {
	case toolsearch.FieldName:
		return i18n.T(ctx, "“%s” in the name", word)
	case toolsearch.FieldTitle:
		return i18n.T(ctx, "“%s” in the title", word)
	case toolsearch.FieldConnector:
		return i18n.T(ctx, "“%s” in the connector's name", word)
	case toolsearch.FieldTags:
		return i18n.T(ctx, "“%s” in the tags", word)
	case toolsearch.FieldParam, toolsearch.FieldParamText:
		return i18n.T(ctx, "“%s” in the parameters", word)
	case toolsearch.FieldHistory:
		return i18n.T(ctx, "“%s” asked before", word)
	case toolsearch.FieldMeaning:
		return i18n.T(ctx, "similar in meaning")
	default:
		return i18n.T(ctx, "“%s” in the description", word)
	}
}

// pinFormFor returns the form that pins a tool or unpins it.
func pinFormFor(a connectors.Agent, t *agentview.Tool, can templates.Permissions, returnTo string) templates.PinForm {
	f := templates.PinForm{Connector: t.Connector.Connector.Slug, Tool: t.Name, Pinned: t.Pinned, ReturnTo: returnTo}
	if can.Manage {
		f.Action = shell.AgentPath(a.Slug) + "/pins"
	}
	return f
}

const (
	maxOftenCalled = 5
	minOftenCalls  = 10
)

// oftenCalledTools returns the tools to pin: those of a lean list's agent that it calls often, most calls first.
func oftenCalledTools(ctx context.Context, u agentview.UnusedTools, can templates.Permissions, returnTo string) []templates.OftenCalledTool {
	if u.View.Agent.ToolList == connectors.ToolListFull {
		return nil
	}
	calls := func(t *agentview.Tool) int {
		return u.Use.Called[store.ToolKey{ConnectorID: t.Connector.Connector.ID, Tool: t.Name}].Calls
	}
	often := slices.DeleteFunc(slices.Clone(u.View.Tools), func(t *agentview.Tool) bool { return t.Pinned || calls(t) < minOftenCalls })
	slices.SortStableFunc(often, func(a, b *agentview.Tool) int { return calls(b) - calls(a) })
	var rows []templates.OftenCalledTool
	for _, t := range often[:min(len(often), maxOftenCalled)] {
		rows = append(rows, templates.OftenCalledTool{
			Exposed: shell.CleanText(t.Exposed), Href: agentToolPath(u.View.Agent.Slug, t.Exposed),
			Calls: i18n.N(ctx, calls(t), "%s call", "%s calls"), Pin: pinFormFor(u.View.Agent, t, can, returnTo),
		})
	}
	return rows
}

// agentPin pins a tool in the agent's lean list, or unpins it.
func (h *Handler) agentPin(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	a, err := h.TenantStore(r).Agents().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.Text("return_to"), shell.AgentPath(a.Slug)+"/tools")
	connector, tool, pinned := f.Text("connector"), f.Text("tool"), f.Text("pinned") == "true"
	if connector == "" || tool == "" {
		return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "No tool selected.")})
	}
	err = h.Registry.PinTool(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), connectors.Ref(connector), tool, pinned)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		text := problem.Message
		if len(problem.Fields) > 0 {
			text = problem.Fields[0].Message
		}
		return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Alert, Text: text})
	}
	if err != nil {
		return err
	}
	text := i18n.T(r.Context(), "Tool unpinned.")
	if pinned {
		text = i18n.T(r.Context(), "Tool pinned.")
	}
	return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Notice, Text: text})
}
