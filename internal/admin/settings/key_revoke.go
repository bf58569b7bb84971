package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// keyRevoke revokes an API key.
func (h *Handler) keyRevoke(w http.ResponseWriter, r *http.Request) error {
	id, ok := shell.PathRef(r, "id").UUID()
	if !ok {
		return fault.Errorf(fault.NotFound, "No such API key.")
	}
	if err := h.Auth.RevokeKey(r.Context(), shell.Actor(r), connectors.APIKeyID{UUID: id}); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/api-keys", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "API key revoked.")})
}
