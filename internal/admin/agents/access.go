package agents

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// maxGrants bounds the grants that a page lists.
const maxGrants = 200

// agentAccess lists the connectors granted to an agent, and those that could be.
func (h *Handler) agentAccess(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	filter := store.ConnectorFilter{Query: strings.TrimSpace(query.Get("q")), Page: store.Page{Cursor: query.Get("cursor")}}
	var (
		a       connectors.Agent
		granted store.List[store.GrantedConnector]
		view    *agentview.View
		all     store.List[connectors.Connector]
	)
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if a, err = tx.Agents().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		if granted, err = tx.Agents().Grants(r.Context(), a.ID, store.Page{Limit: maxGrants}); err != nil {
			return err
		}
		if view, err = h.Access.LoadFrom(r.Context(), tx.Agents(), a.ID); err != nil {
			return err
		}
		all, err = tx.Connectors().List(r.Context(), filter)
		return err
	})
	if err != nil {
		return err
	}
	others := h.otherConnectors(r.Context(), a, all.Items, granted.Items)
	return h.Respond.Page(w, r, http.StatusOK, templates.AgentAccess(templates.AgentAccessPage{
		Frame:  h.agentFrame(r, a, i18n.T(r.Context(), "Access")),
		Head:   agentHead(r.Context(), a, templates.AgentAccessTab),
		Grants: h.grantRows(r.Context(), a, granted.Items, view),
		Files:  shell.FilesPager(shell.AgentPath(string(shell.PathRef(r, "id"))) + "/access"),
		Query:  filter.Query,
		Others: others,
		Count:  shell.FormatCount(r.Context(), len(others), shell.NewPager(r, all.Next), "%s connector", "%s connectors"),
		Pager:  shell.NewPager(r, all.Next),
	}))
}

func grantPath(agent, connector string) string {
	return shell.AgentPath(agent) + shell.ConnectorPath(connector)
}

func (h *Handler) grantRows(ctx context.Context, a connectors.Agent, granted []store.GrantedConnector, view *agentview.View) []templates.GrantRow {
	rows := make([]templates.GrantRow, len(granted))
	for i, g := range granted {
		rows[i] = templates.GrantRow{
			Connector: g.Name,
			Mark:      templates.Mark{Initial: shell.InitialLetter(g.Name)},
			Href:      grantPath(a.Slug, g.Slug),
			State:     templates.State{Kind: templates.StateOff, Text: shell.StatusName(ctx, connectors.StatusDisabled)},
			Tools:     grantedTools(ctx, g.Grant, -1),
			Items:     grantedItems(ctx, g.Grant),
			Approval:  grantApproval(ctx, a, g.Grant),
		}
		if connector := view.Connector(g.Slug); connector != nil {
			rows[i].Mark = h.ConnectorMark(connector.Connector)
			rows[i].State = shell.ConnectorState(ctx, connector.Connector)
			rows[i].Tools = grantedTools(ctx, g.Grant, connector.Connector.ToolCount)
			rows[i].Tokens = i18n.Number(ctx, connector.Size(toolfmt.OpenAI).Tokens)
		}
	}
	return rows
}

// grantedTools says how many of a connector's tools were granted. A negative available means that their number
// is not known.
func grantedTools(ctx context.Context, g connectors.Grant, available int) string {
	switch {
	case g.AllTools && available < 0:
		return i18n.T(ctx, "All tools")
	case g.AllTools:
		return i18n.N(ctx, available, "All %s tool", "All %s tools")
	case available < len(g.Tools):
		return i18n.N(ctx, len(g.Tools), "%s tool", "%s tools")
	default:
		return i18n.N(ctx, available, "%[2]s of %[1]s tool", "%[2]s of %[1]s tools", i18n.Number(ctx, len(g.Tools)))
	}
}

// grantApproval says which calls need approval.
func grantApproval(ctx context.Context, a connectors.Agent, g connectors.Grant) string {
	if g.Approval == nil {
		return approvalName(ctx, a.Approval)
	}
	return approvalName(ctx, *g.Approval)
}

// otherConnectors lists the connectors that were not granted to an agent.
func (h *Handler) otherConnectors(ctx context.Context, a connectors.Agent, all []connectors.Connector, granted []store.GrantedConnector) []templates.GrantRow {
	has := map[connectors.ConnectorID]bool{}
	for _, g := range granted {
		has[g.Grant.ConnectorID] = true
	}
	var rows []templates.GrantRow
	for _, c := range all {
		if has[c.ID] {
			continue
		}
		rows = append(rows, templates.GrantRow{
			Connector: c.Name, Mark: h.ConnectorMark(c), Href: grantPath(a.Slug, c.Slug), State: shell.ConnectorState(ctx, c), Tools: i18n.N(ctx, c.ToolCount, "%s tool", "%s tools"),
		})
	}
	return rows
}
