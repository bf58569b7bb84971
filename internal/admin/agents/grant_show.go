package agents

import (
	"context"
	"maps"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// grantState is an agent's grant of a connector, with what its page shows.
type grantState struct {
	agent        connectors.Agent
	connector    connectors.Connector
	grant        connectors.Grant // zero if there is none
	exists       bool
	toolEnds     map[string]*time.Time // of tools with ends of their own, chosen or not
	now          time.Time
	choices      []store.ToolChoice
	view         *agentview.View                 // what the agent sees now
	explanations map[string]agentview.ToolAccess // of the connector's tools; empty if it is not granted
	filter       toolpages.ToolFilter
	accounts     []string // names of the owner's accounts
	posted       []string // names that the form chose; nil: the form was not sent, or does not ask
}

func (h *Handler) grantShow(w http.ResponseWriter, r *http.Request) error {
	g, err := h.loadGrant(r)
	if err != nil {
		return err
	}
	g.filter = toolpages.ReadToolFilter(r.URL.Query())
	return h.grantPage(w, r, http.StatusOK, g, grantForm(g))
}

func (h *Handler) loadGrant(r *http.Request) (g grantState, err error) {
	err = h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) error {
		g, err = h.loadGrantIn(r, tx)
		return err
	})
	return g, err
}

func (h *Handler) loadGrantIn(r *http.Request, tenant *store.Tenant) (g grantState, err error) {
	if g.agent, err = tenant.Agents().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
		return g, err
	}
	if g.connector, err = tenant.Connectors().Get(r.Context(), shell.PathRef(r, "connector")); err != nil {
		return g, err
	}
	granted, err := tenant.Agents().Grant(r.Context(), g.agent.ID, g.connector.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return g, err
	}
	g.grant, g.exists, g.now = granted.Grant, err == nil, h.Now()
	g.toolEnds = g.grant.ToolEnds()
	if g.accounts, err = loadAccountNames(r.Context(), tenant.Accounts(), g.connector, g.agent.ID); err != nil {
		return g, err
	}
	if g.choices, err = tenant.Agents().ToolChoices(r.Context(), g.connector.ID, grantedNames(g.grant)); err != nil {
		return g, err
	}
	if g.view, err = h.Access.LoadFrom(r.Context(), tenant.Agents(), g.agent.ID); err != nil {
		return g, err
	}
	if reach := findReach(g.view, g.connector.ID); reach != nil {
		g.explanations, err = h.Access.ExplainTools(r.Context(), tenant.Agents(), g.view, reach.Slug)
	}
	return g, err
}

// grantForm is the form of a grant. A new one has no tool, so that nothing is granted by mistake.
func grantForm(g grantState) templates.Form {
	values := map[string]string{"all": "false", "approval": "", "prompts": string(g.grant.Prompts), "resources": string(g.grant.Resources)}
	maps.Copy(values, endValues(g.grant.Until()))
	if g.grant.AllTools {
		values["all"] = "true"
	}
	if g.grant.Approval != nil {
		values["approval"] = string(*g.grant.Approval)
	}
	return templates.Form{Values: values}
}

func (h *Handler) grantPage(w http.ResponseWriter, r *http.Request, status int, g grantState, f templates.Form) error {
	frame := h.NewFrame(r, templates.NavAgents,
		shell.NewCrumb(i18n.T(r.Context(), "Agents"), "/agents"), shell.NewCrumb(g.agent.Name, shell.AgentPath(g.agent.Slug)+"/access"), shell.NewCrumb(g.connector.Name, ""))
	frame.Title = i18n.T(r.Context(), "%s for %s", g.connector.Name, g.agent.Name)
	tools := grantTools(r.Context(), g)
	count, shown := grantCount(r.Context(), g.grant, tools), hideUnmatched(r.Context(), g.filter, tools)
	usual := hideUsual(tools)
	page := templates.GrantPage{
		Frame:      frame,
		Head:       agentHead(r.Context(), g.agent, templates.AgentAccessTab),
		Connector:  g.connector.Name,
		ToolsHref:  shell.ConnectorPath(g.connector.Slug) + "/tools",
		Action:     grantPath(g.agent.Slug, g.connector.Slug),
		Granted:    g.exists,
		Form:       f,
		Accounts:   g.accountChoices(),
		NoAccount:  g.missingAccount(r.Context()),
		Account:    accountsText(r.Context(), g.grant.Accounts),
		Credential: shell.CredentialsPath(g.connector.Slug),
		Until:      grantEndText(r.Context(), g),
		Ends:       endOptions(r.Context()),
		Approvals:  grantApprovals(r.Context(), g.agent),
		TrustsHere: g.agent.Approval == connectors.ApprovalTrustedOnly,
		Reaches:    grantLinks(r.Context(), g),
		Filter:     g.filter.ToForm(),
		Effects:    toolpages.EffectOptions(r.Context(), tools),
		Tools:      tools,
		Count:      count,
		Usual:      usual,
		Shown:      shown,
		Estimate:   toolpages.EstimateText(r.Context(), toolfmt.OpenAI),
		ItemNotes:  itemNotes(r.Context(), g),
		Goes:       []string{grantText(r.Context(), g.grant, -1, g.now), i18n.T(r.Context(), "its approval rule")},
	}
	page.PromptChoices, page.ResourceChoices = promptChoices(r.Context(), g.exists), resourceChoices(r.Context(), g.exists)
	if len(g.choices) == store.MaxToolChoices {
		page.More = i18n.T(r.Context(), "First %s shown. Others stay unchanged; use the API to edit them.", i18n.Number(r.Context(), store.MaxToolChoices))
	}
	return h.Respond.Page(w, r, status, templates.Grant(page))
}

// grantApprovals offers the approval modes for one connector. The agent's own comes first.
func grantApprovals(ctx context.Context, a connectors.Agent) []templates.Option {
	own := templates.Option{Value: "", Label: i18n.T(ctx, "Agent default: %s", i18n.Lower(ctx, shell.ApprovalName(ctx, a.Approval)))}
	return append([]templates.Option{own}, shell.ApprovalOptions(ctx)...)
}
