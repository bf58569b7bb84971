package admin

import (
	"net/http"

	"patchbay/internal/respond"
)

// agentSave changes an agent.
func (h *Handler) agentSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	before, err := h.tenant(r).Agent(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	changed := before
	changed.Name, changed.Slug, changed.Description = f.text("name"), f.text("slug"), f.text("description")
	changed.Enabled = f.checked("enabled")
	a, err := h.registry.UpdateAgent(r.Context(), actor(r), changed)
	if problem, ok := mendable(err); ok {
		return h.agentPage(w, r, respond.Status(problem.Kind), before, f.again(problem))
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, agentPath(a.Slug), respond.Flash{Kind: respond.Notice, Text: "The agent is saved."})
}
