package agents

import (
	"context"
	"net/http"
	"net/url"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
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
			Connector: allowed.Name,
			Kind:      string(allowed.Kind),
			Ends:      shell.NewWhen(ctx, allowed.Until, h.Now()),
			GrantedBy: allowed.GrantedBy,
		}
		kind, suspended := allowanceWords(ctx, allowed)
		if rows[i].Suspended = suspended; kind != "" {
			rows[i].Connector = kind + " · " + allowed.Name
		}
		if allowed.Kind == connectors.CallTool {
			rows[i].ToolHref = shell.ToolPath(allowed.Slug, allowed.Tool)
		}
		if allowances.mayEnd {
			rows[i].End = grantPath(a.Slug, allowed.Slug) + "/allowances/" + url.PathEscape(allowed.Tool) + "/end"
		}
	}
	return rows
}

// allowanceWords names what is allowed, empty for a tool, and says why the allowance is not in force, empty if it is.
func allowanceWords(ctx context.Context, a store.AgentAllowance) (kind, suspended string) {
	switch a.Kind {
	case connectors.CallPrompt:
		kind, suspended = i18n.T(ctx, "Prompt"), i18n.T(ctx, "No longer listed by the server.")
	case connectors.CallResource:
		kind = i18n.T(ctx, "Resource")
	default:
		suspended = i18n.T(ctx, "The tool changed since, so calls need approval.")
	}
	if a.InForce {
		suspended = ""
	}
	return kind, suspended
}

// allowanceEnd ends an allowance before its time.
func (h *Handler) allowanceEnd(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	tool := shell.PathValue(r, "tool")
	err = h.Registry.EndAllowance(r.Context(), shell.Actor(r), manage.AllowanceRef{
		Agent: shell.PathRef(r, "id"), Connector: shell.PathRef(r, "connector"), Kind: connectors.CallKind(f.Text("kind")), Tool: tool,
	})
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.AgentPath(string(shell.PathRef(r, "id"))), respond.Flash{
		Kind: respond.Notice, Text: i18n.T(r.Context(), "Standing approval revoked: %s needs approval again.", shell.ShortenText(tool, shell.MaxName)),
	})
}
