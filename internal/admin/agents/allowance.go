package agents

import (
	"context"
	"net/http"
	"net/url"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// agentAllowances are an agent's allowances, and whether the viewer may end them.
type agentAllowances struct {
	list   []store.AgentAllowance
	mayEnd bool
}

func loadAllowances(ctx context.Context, tx *store.Tenant, viewer auth.Actor, agent connectors.AgentID) (agentAllowances, error) {
	list, err := tx.Calls().Allowances(ctx, agent, store.Page{Limit: store.MaxLimit})
	if err != nil || len(list.Items) == 0 {
		return agentAllowances{}, err
	}
	refusals, err := viewer.DecideRefusals(ctx, tx.Accounts(), agent)
	return agentAllowances{list.Items, refusals[agent] == nil}, err
}

func (h *Handler) allowanceRows(ctx context.Context, a connectors.Agent, allowances agentAllowances) []templates.AllowanceRow {
	rows := make([]templates.AllowanceRow, len(allowances.list))
	for i, allowed := range allowances.list {
		rows[i] = templates.AllowanceRow{
			Tool:      shell.ShortenText(allowed.Tool, shell.MaxName),
			ToolHref:  shell.ToolPath(allowed.Slug, allowed.Tool),
			Connector: allowed.Name,
			Ends:      shell.NewWhen(ctx, allowed.Until, h.Now()),
			GrantedBy: allowed.GrantedBy,
			Changed:   !allowed.InForce,
		}
		if allowances.mayEnd {
			rows[i].End = grantPath(a.Slug, allowed.Slug) + "/allowances/" + url.PathEscape(allowed.Tool) + "/end"
		}
	}
	return rows
}

// allowanceEnd ends an allowance before its time.
func (h *Handler) allowanceEnd(w http.ResponseWriter, r *http.Request) error {
	tool := shell.PathValue(r, "tool")
	err := h.Registry.EndAllowance(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), shell.PathRef(r, "connector"), tool)
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.AgentPath(string(shell.PathRef(r, "id"))), respond.Flash{
		Kind: respond.Notice, Text: i18n.T(r.Context(), "The allowance is ended: calls of %s need approval again.", shell.ShortenText(tool, shell.MaxName)),
	})
}
