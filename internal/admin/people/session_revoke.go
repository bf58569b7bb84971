package people

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// sessionRevoke ends one of the person's other sessions.
func (h *Handler) sessionRevoke(w http.ResponseWriter, r *http.Request) error {
	id, ok := shell.PathRef(r, "id").UUID()
	if !ok {
		return fault.Errorf(fault.NotFound, "No such session.")
	}
	if err := h.Auth.RevokeSession(r.Context(), shell.Actor(r), connectors.SessionID{UUID: id}); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/account#sessions", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Browser signed out.")})
}

// sessionsRevokeAll ends all of the person's sessions, this one included.
func (h *Handler) sessionsRevokeAll(w http.ResponseWriter, r *http.Request) error {
	if err := h.Auth.SignOutEverywhere(r.Context(), shell.Actor(r)); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/login", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Signed out everywhere.")})
}
