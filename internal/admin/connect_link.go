package admin

import (
	"net/http"

	"patchbay/web/templates"
)

// connectLink makes a link that may be sent to the owner of an account, and shows it this once.
func (h *Handler) connectLink(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	agent, _ := agentOf(r)
	link, err := h.connect.Link(r.Context(), actor(r), ref(r, "id"), agent, "")
	if err != nil {
		return h.connectFailed(w, r, c, err)
	}
	shown := &templates.ConnectLink{URL: link.URL, Ends: when(r.Context(), link.ExpiresAt, h.now())}
	if agent != nil {
		a, err := h.tenant(r).Agent(r.Context(), *agent)
		if err != nil {
			return err
		}
		shown.For = a.Name
	}
	return h.credentialsPage(w, r, c, credentialsNews{link: shown})
}
