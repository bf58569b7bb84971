package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/web/templates"
)

// connectLink creates a link for the owner of an account, and shows it once.
func (h *Handler) connectLink(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	agent, _ := readPathAgent(r)
	link, err := h.Connect.Link(r.Context(), shell.Actor(r), shell.PathRef(r, "id"), agent, "")
	if err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	view := &templates.ConnectLink{URL: link.URL, Ends: shell.NewWhen(r.Context(), link.ExpiresAt, h.Now())}
	if agent != nil {
		a, err := h.TenantStore(r).Agents().Get(r.Context(), *agent)
		if err != nil {
			return err
		}
		view.For = a.Name
	}
	return h.credentialsPage(w, r, credentialsPageState{link: view})
}
