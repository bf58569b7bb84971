package agents

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// agentNew shows the form for a new agent.
func (h *Handler) agentNew(w http.ResponseWriter, r *http.Request) error {
	return h.agentFormPage(w, r, http.StatusOK, templates.Form{Values: map[string]string{
		"approval": string(shell.Actor(r).Tenant.Defaults.Approval),
	}})
}

func (h *Handler) agentFormPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form) error {
	return h.Respond.Page(w, r, status, templates.AgentForm(templates.AgentFormPage{
		Frame:     h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(r.Context(), "Agents"), "/agents"), shell.NewCrumb(i18n.T(r.Context(), "Add agent"), "")),
		Form:      f,
		Approvals: shell.ApprovalOptions(r.Context()),
	}))
}
