package admin

import (
	"net/http"

	"patchbay/web/templates"
)

// connectLink creates a link for the owner of an account, and shows it once.
func (h *Handler) connectLink(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenantStore(r).Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	agent, _ := readPathAgent(r)
	link, err := h.connect.Link(r.Context(), actor(r), pathRef(r, "id"), agent, "")
	if err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	view := &templates.ConnectLink{URL: link.URL, Ends: newWhen(r.Context(), link.ExpiresAt, h.now())}
	if agent != nil {
		a, err := h.tenantStore(r).Agent(r.Context(), *agent)
		if err != nil {
			return err
		}
		view.For = a.Name
	}
	return h.credentialsPage(w, r, credentialsPageState{link: view})
}
