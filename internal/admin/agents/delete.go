package agents

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// agentDelete deletes an agent with its credentials.
func (h *Handler) agentDelete(w http.ResponseWriter, r *http.Request) error {
	a, err := h.TenantStore(r).Agents().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	if err := h.Registry.DeleteAgent(r.Context(), shell.Actor(r), shell.PathRef(r, "id")); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/agents", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Deleted “%s”.", a.Name)})
}
