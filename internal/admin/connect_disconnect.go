package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// connectDisconnect disconnects an account.
func (h *Handler) connectDisconnect(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenantStore(r).Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	agent, _ := readPathAgent(r)
	clearWriteDeadline(w)
	if err := h.connect.Disconnect(r.Context(), actor(r), pathRef(r, "id"), agent); err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	return h.respond.Back(w, r, credentialsPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Disconnected '%s'.", c.Name),
	})
}
