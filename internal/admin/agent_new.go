package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// agentNew shows the form for a new agent.
func (h *Handler) agentNew(w http.ResponseWriter, r *http.Request) error {
	return h.agentFormPage(w, r, http.StatusOK, templates.Form{Values: map[string]string{
		"approval": string(actor(r).Tenant.Defaults.Approval),
	}})
}

func (h *Handler) agentFormPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form) error {
	return h.respond.Page(w, r, status, templates.AgentForm(templates.AgentFormPage{
		Frame:     h.newFrame(r, templates.NavAgents, newCrumb(i18n.T(r.Context(), "Agents"), "/agents"), newCrumb(i18n.T(r.Context(), "Add agent"), "")),
		Form:      f,
		Approvals: approvalOptions(r.Context()),
	}))
}
