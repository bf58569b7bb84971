package agents

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// agentList lists the agents, filtered by words, state and approval.
func (h *Handler) agentList(w http.ResponseWriter, r *http.Request) error {
	ctx, filter := r.Context(), readAgentFilter(r)
	list, counts, err := h.TenantStore(r).Lists().Agents(ctx, filter, h.CountsSince())
	if err != nil {
		return err
	}
	query := r.URL.Query()
	pager := shell.WithTotal(shell.NewPager(r, list.Next, len(list.Items)), counts.Matching)
	page := templates.AgentsPage{
		Frame:  h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(ctx, "Agents"), "")),
		Heads:  shell.NewHeads(r, agentOrder),
		Filter: templates.Form{Values: map[string]string{"q": filter.Query, "state": query.Get("state"), "approval": string(filter.Approval), "sort": query.Get("sort")}},
		States: []templates.Option{
			{Label: i18n.T(ctx, "Any state")}, {Value: "enabled", Label: i18n.T(ctx, "Enabled")}, {Value: "disabled", Label: i18n.T(ctx, "Disabled")},
			{Value: troubledState, Label: i18n.T(ctx, "Needs attention (%s)", i18n.Number(ctx, counts.Troubled))},
		},
		Approvals: append([]templates.Option{{Label: i18n.T(ctx, "Any approval")}}, shell.ApprovalOptions(ctx)...),
		Filtered:  filter.Query != "" || filter.Approval != "" || filter.Enabled != nil || filter.Troubled,
		Count:     shell.FormatCount(ctx, len(list.Items), pager, "%s agent", "%s agents"),
		Pager:     pager,
	}
	for _, a := range list.Items {
		page.Rows = append(page.Rows, agentRow(ctx, a, h.Now()))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Agents(page))
}

// troubledState selects the agents that cannot work as they should, in the filter by state.
const troubledState = "attention"

func readAgentFilter(r *http.Request) store.AgentFilter {
	query := r.URL.Query()
	f := store.AgentFilter{Query: strings.TrimSpace(query.Get("q")), Approval: connectors.ApprovalMode(query.Get("approval")), Page: shell.ReadPage(r)}
	switch state := query.Get("state"); state {
	case "enabled", "disabled":
		f.Enabled = new(state == "enabled")
	case troubledState:
		f.Troubled = true
	}
	return f
}

func agentRow(ctx context.Context, a store.AgentSummary, now time.Time) templates.AgentRow {
	return templates.AgentRow{
		Name:       a.Name,
		Slug:       a.Slug,
		Href:       shell.AgentPath(a.Slug),
		Initial:    shell.InitialLetter(a.Name),
		State:      agentState(ctx, a.Agent),
		Trouble:    agentTrouble(ctx, a),
		Approval:   shell.ApprovalName(ctx, a.Approval),
		Connectors: i18n.Number(ctx, a.Connectors),
		Tools:      i18n.Number(ctx, a.Tools),
		Seen:       shell.NewWhenOrNever(ctx, a.SeenAt, now),
		Calls:      shell.FormatCalls(ctx, a.Recent),
		Failed:     shell.FormatFailed(ctx, a.Recent),
		CallsHref:  shell.WithQuery("/calls", url.Values{"agent": {a.Slug}, "range": {"24h"}}),
	}
}

// agentTrouble says why an enabled agent cannot work as it should; empty if it can.
func agentTrouble(ctx context.Context, a store.AgentSummary) string {
	var text string
	switch t := a.Trouble; {
	case !a.Enabled:
		return ""
	case a.Tokens == 0:
		return i18n.T(ctx, "No token")
	case t.Connectors == 0:
		return ""
	case t.LacksAccount:
		text = i18n.T(ctx, "%s: no account", t.First)
	default:
		text = i18n.T(ctx, "%s: not working", t.First)
	}
	if more := a.Trouble.Connectors - 1; more > 0 {
		text = i18n.N(ctx, more, "%[2]s, and %[1]s more", "%[2]s, and %[1]s more", text)
	}
	return text
}

func agentState(ctx context.Context, a connectors.Agent) templates.State {
	if a.Enabled {
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Enabled")}
	}
	return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Disabled")}
}

// agentOrder has the sort keys of agents, with the store's names.
var agentOrder = []shell.Column{{Name: "name"}, {Name: "state", Descending: true}, {Name: "approval"}, {Name: "added", Descending: true}}

var agentColumns = []export.Column[store.AgentSummary]{
	{Name: "id", Of: func(a store.AgentSummary) any { return a.ID.String() }},
	{Name: "slug", Of: func(a store.AgentSummary) any { return a.Slug }},
	{Name: "name", Of: func(a store.AgentSummary) any { return a.Name }},
	{Name: "description", Of: func(a store.AgentSummary) any { return a.Description }},
	{Name: "approval", Of: func(a store.AgentSummary) any { return a.Approval }},
	{Name: "enabled", Of: func(a store.AgentSummary) any { return a.Enabled }},
	{Name: "tool_list", Of: func(a store.AgentSummary) any { return a.ToolList }},
	{Name: "calls_per_minute", Of: func(a store.AgentSummary) any { return a.CallsPerMinute }},
	{Name: "connectors", Of: func(a store.AgentSummary) any { return a.Connectors }},
	{Name: "tools", Of: func(a store.AgentSummary) any { return a.Tools }},
	{Name: "last_seen_at", Of: func(a store.AgentSummary) any { return a.SeenAt }},
	{Name: "created_at", Of: func(a store.AgentSummary) any { return a.CreatedAt }},
	{Name: "updated_at", Of: func(a store.AgentSummary) any { return a.UpdatedAt }},
}

func (h *Handler) agentFile(w http.ResponseWriter, r *http.Request) error {
	filter := readAgentFilter(r)
	return shell.TableFile[store.AgentSummary]{Name: "agents", Columns: agentColumns, List: func(ctx context.Context, p store.Page) (store.List[store.AgentSummary], error) {
		filter.Page = p
		list, _, err := h.TenantStore(r).Lists().Agents(ctx, filter, h.CountsSince())
		return list, err
	}}.Serve(h.Shell, w, r)
}
