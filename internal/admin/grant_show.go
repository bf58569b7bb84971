package admin

import (
	"context"
	"net/http"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// granting is an agent, a connector, and what the one may use of the other.
type granting struct {
	agent     connectors.Agent
	connector connectors.Connector
	grant     connectors.Grant // the zero value where there is none
	there     bool
	choices   []store.ToolChoice
	view      *access.View          // what the agent sees now
	whys      map[string]access.Why // of the connector's tools; none where it is not granted
	filter    toolFilter
}

// grantShow shows what an agent may use of one connector, and the form that changes it.
func (h *Handler) grantShow(w http.ResponseWriter, r *http.Request) error {
	g, err := h.granting(r)
	if err != nil {
		return err
	}
	g.filter = readToolFilter(r.URL.Query())
	return h.grantPage(w, r, http.StatusOK, g, grantForm(g))
}

func (h *Handler) granting(r *http.Request) (g granting, err error) {
	err = h.tenant(r).Snapshot(r.Context(), func(tx *store.Tenant) error {
		g, err = h.grantingIn(r, tx)
		return err
	})
	return g, err
}

func (h *Handler) grantingIn(r *http.Request, tenant *store.Tenant) (g granting, err error) {
	if g.agent, err = tenant.Agent(r.Context(), ref(r, "id")); err != nil {
		return g, err
	}
	if g.connector, err = tenant.Connector(r.Context(), ref(r, "connector")); err != nil {
		return g, err
	}
	granted, err := tenant.AgentGrant(r.Context(), g.agent.ID, g.connector.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return g, err
	}
	g.grant, g.there = granted.Grant, err == nil
	if g.choices, err = tenant.ToolChoices(r.Context(), g.connector.ID, g.grant.Tools); err != nil {
		return g, err
	}
	if g.view, err = h.access.FreshIn(r.Context(), tenant, g.agent.ID); err != nil {
		return g, err
	}
	g.whys, err = h.access.Whys(r.Context(), tenant, g.view, g.connector.Slug)
	return g, err
}

// grantForm holds a grant. A fresh one begins with no tool, so that nothing is granted by mistake.
func grantForm(g granting) templates.Form {
	values := map[string]string{"all": "false", "approval": ""}
	if g.grant.AllTools {
		values["all"] = "true"
	}
	if g.grant.Approval != nil {
		values["approval"] = string(*g.grant.Approval)
	}
	return templates.Form{Values: values}
}

func (h *Handler) grantPage(w http.ResponseWriter, r *http.Request, status int, g granting, f templates.Form) error {
	frame := h.frame(r, templates.NavAgents,
		crumb(words.T(r.Context(), "Agents"), "/agents"), crumb(g.agent.Name, agentPath(g.agent.Slug)+"/access"), crumb(g.connector.Name, ""))
	frame.Title = words.T(r.Context(), "%s for %s", g.connector.Name, g.agent.Name)
	tools := grantTools(r.Context(), g)
	count, shown := grantCount(r.Context(), g.grant, tools), g.filter.narrow(r.Context(), tools)
	page := templates.GrantPage{
		Frame:      frame,
		Head:       agentHead(r.Context(), g.agent, templates.AgentAccessTab),
		Connector:  g.connector.Name,
		ToolsHref:  connectorPath(g.connector.Slug) + "/tools",
		Action:     grantPath(g.agent.Slug, g.connector.Slug),
		Granted:    g.there,
		Form:       f,
		Approvals:  grantApprovals(r.Context(), g.agent),
		TrustsHere: g.agent.Approval == connectors.ApprovalTrustedOnly,
		Reaches:    grantLinks(r.Context(), g),
		Filter:     g.filter.form(),
		Effects:    effectOptions(r.Context(), tools),
		Tools:      tools,
		Count:      count,
		Shown:      shown,
		Estimate:   estimateOf(r.Context(), toolfmt.OpenAI),
		Goes:       []string{grantedTools(r.Context(), g.grant, -1), words.T(r.Context(), "its rule of approval")},
	}
	if len(g.choices) == store.MaxToolChoices {
		page.More = words.T(r.Context(), "Only the first %s are listed. The others keep what was chosen for them; the API changes it.", words.Number(r.Context(), store.MaxToolChoices))
	}
	return h.respond.Page(w, r, status, templates.Grant(page))
}

// grantApprovals offers a rule for one connector, the agent's own first.
func grantApprovals(ctx context.Context, a connectors.Agent) []templates.Option {
	own := templates.Option{Value: "", Label: words.T(ctx, "As the agent: %s", words.Lower(ctx, approvalName(ctx, a.Approval)))}
	return append([]templates.Option{own}, approvalOptions(ctx)...)
}
