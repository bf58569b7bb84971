package admin

import (
	"context"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

func (h *Handler) agentList(w http.ResponseWriter, r *http.Request) error {
	list, err := h.tenantStore(r).Agents(r.Context(), readPage(r))
	if err != nil {
		return err
	}
	page := templates.AgentsPage{
		Frame: h.newFrame(r, templates.NavAgents, newCrumb(i18n.T(r.Context(), "Agents"), "")),
		Heads: newHeads(r, agentOrder),
		Count: formatCount(r.Context(), len(list.Items), newPager(r, list.Next), "%s agent", "%s agents"),
		Pager: newPager(r, list.Next),
	}
	for _, a := range list.Items {
		page.Rows = append(page.Rows, templates.AgentRow{
			Name:        a.Name,
			Slug:        a.Slug,
			Href:        agentPath(a.Slug),
			Initial:     initialLetter(a.Name),
			Description: a.Description,
			State:       agentState(r.Context(), a),
			Approval:    approvalName(r.Context(), a.Approval),
			Created:     newWhen(r.Context(), a.CreatedAt, h.now()),
		})
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Agents(page))
}

func agentState(ctx context.Context, a connectors.Agent) templates.State {
	if a.Enabled {
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Enabled")}
	}
	return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Disabled")}
}

// agentOrder has the sort keys of agents, with the store's names.
var agentOrder = []column{{name: "name"}, {name: "state", descending: true}, {name: "approval"}, {name: "added", descending: true}}
