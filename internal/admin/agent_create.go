package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// agentCreate adds an agent.
func (h *Handler) agentCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	a, err := h.registry.CreateAgent(r.Context(), actor(r), connectors.Agent{
		Name:        f.text("name"),
		Slug:        f.text("slug"),
		Description: f.text("description"),
		Approval:    connectors.ApprovalMode(f.text("approval")),
		Enabled:     true,
	})
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.agentFormPage(w, r, respond.Status(problem.Kind), f.toForm(problem))
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, agentPath(a.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "'%s' is added.", a.Name),
	})
}
