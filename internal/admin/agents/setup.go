package agents

import (
	"net/http"
	"slices"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// maxSetupChoices bounds the connectors that the form offers. Others are granted on the agent's page.
const maxSetupChoices = 50

// setupShow shows the form that makes an agent with access and a token.
func (h *Handler) setupShow(w http.ResponseWriter, r *http.Request) error {
	form := templates.Form{Values: map[string]string{"approval": string(shell.Actor(r).Tenant.Defaults.Approval)}}
	return h.setupPage(w, r, http.StatusOK, form, r.URL.Query()["connector"])
}

// setupCreate makes the agent, its access and its token, and shows the token on this page alone.
func (h *Handler) setupCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	setup := manage.AgentSetup{Name: f.Text("name"), Approval: connectors.ApprovalMode(f.Text("approval"))}
	for _, slug := range f.Values["connector"] {
		setup.Connectors = append(setup.Connectors, connectors.Ref(slug))
	}
	a, token, err := h.Registry.SetUpAgent(r.Context(), shell.Actor(r), setup)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.setupPage(w, r, respond.Status(problem.Kind), f.ToForm(problem), f.Values["connector"])
	}
	if err != nil {
		return err
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.AgentReady(templates.AgentReadyPage{
		Frame:    h.agentFrame(r, a, i18n.T(r.Context(), "Connect")),
		Name:     a.Name,
		Href:     shell.AgentPath(a.Slug),
		Token:    templates.NewAPIKey{Name: a.Name, Token: token.Reveal()},
		Snippets: clientSnippets(r.Context(), h.BaseURL+"/mcp", token.Reveal()),
	}))
}

func (h *Handler) setupPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, chosen []string) error {
	list, err := h.TenantStore(r).Connectors().List(r.Context(), store.ConnectorFilter{Page: store.Page{Limit: maxSetupChoices}})
	if err != nil {
		return err
	}
	if len(list.Items) == 1 && status == http.StatusOK {
		chosen = []string{list.Items[0].Slug} // the only choice
	}
	setup := templates.AgentSetup{Form: f, Approvals: shell.ApprovalOptions(r.Context())}
	for _, c := range list.Items {
		setup.Choices = append(setup.Choices, templates.SetupChoice{
			Slug: c.Slug, Name: c.Name, Mark: h.ConnectorMark(c), Chosen: slices.Contains(chosen, c.Slug),
			Tools: i18n.N(r.Context(), c.ToolCount, "%s tool", "%s tools"),
		})
	}
	return h.Respond.Page(w, r, status, templates.SetUpAgent(templates.AgentSetupPage{
		Frame: h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(r.Context(), "Agents"), "/agents"), shell.NewCrumb(i18n.T(r.Context(), "Set up an agent"), "")),
		Setup: setup,
	}))
}
