package agents

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// agentCreate adds an agent.
func (h *Handler) agentCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	a, err := h.Registry.CreateAgent(r.Context(), shell.Actor(r), connectors.Agent{
		Name:        f.Text("name"),
		Slug:        f.Text("slug"),
		Description: f.Text("description"),
		Approval:    connectors.ApprovalMode(f.Text("approval")),
		Enabled:     true,
	})
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.agentFormPage(w, r, respond.Status(problem.Kind), f.ToForm(problem))
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.AgentPath(a.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Added “%s”.", a.Name),
	})
}
