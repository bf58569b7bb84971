package agents

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

func (h *Handler) agentList(w http.ResponseWriter, r *http.Request) error {
	list, err := h.TenantStore(r).Agents().List(r.Context(), shell.ReadPage(r))
	if err != nil {
		return err
	}
	page := templates.AgentsPage{
		Frame: h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(r.Context(), "Agents"), "")),
		Heads: shell.NewHeads(r, agentOrder),
		Count: shell.FormatCount(r.Context(), len(list.Items), shell.NewPager(r, list.Next), "%s agent", "%s agents"),
		Pager: shell.NewPager(r, list.Next),
	}
	for _, a := range list.Items {
		page.Rows = append(page.Rows, templates.AgentRow{
			Name:        a.Name,
			Slug:        a.Slug,
			Href:        shell.AgentPath(a.Slug),
			Initial:     shell.InitialLetter(a.Name),
			Description: a.Description,
			State:       agentState(r.Context(), a),
			Approval:    approvalName(r.Context(), a.Approval),
			Created:     shell.NewWhen(r.Context(), a.CreatedAt, h.Now()),
		})
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Agents(page))
}

func agentState(ctx context.Context, a connectors.Agent) templates.State {
	if a.Enabled {
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Enabled")}
	}
	return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Disabled")}
}

// agentOrder has the sort keys of agents, with the store's names.
var agentOrder = []shell.Column{{Name: "name"}, {Name: "state", Descending: true}, {Name: "approval"}, {Name: "added", Descending: true}}

var agentColumns = []export.Column[connectors.Agent]{
	{Name: "id", Of: func(a connectors.Agent) any { return a.ID.String() }},
	{Name: "slug", Of: func(a connectors.Agent) any { return a.Slug }},
	{Name: "name", Of: func(a connectors.Agent) any { return a.Name }},
	{Name: "description", Of: func(a connectors.Agent) any { return a.Description }},
	{Name: "approval", Of: func(a connectors.Agent) any { return a.Approval }},
	{Name: "enabled", Of: func(a connectors.Agent) any { return a.Enabled }},
	{Name: "calls_per_minute", Of: func(a connectors.Agent) any { return a.CallsPerMinute }},
	{Name: "created_at", Of: func(a connectors.Agent) any { return a.CreatedAt }},
	{Name: "updated_at", Of: func(a connectors.Agent) any { return a.UpdatedAt }},
}

func (h *Handler) agentFile(w http.ResponseWriter, r *http.Request) error {
	return shell.TableFile[connectors.Agent]{Name: "agents", Columns: agentColumns, List: h.TenantStore(r).Agents().List}.Serve(h.Shell, w, r)
}
