package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// sessionRevoke ends one of the person's other sessions.
func (h *Handler) sessionRevoke(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathRef(r, "id").UUID()
	if !ok {
		return fault.Errorf(fault.NotFound, "There is no such session.")
	}
	if err := h.auth.RevokeSession(r.Context(), actor(r), connectors.SessionID{UUID: id}); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/account#sessions", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "That browser is signed out.")})
}

// sessionsRevokeAll ends all of the person's sessions, this one included.
func (h *Handler) sessionsRevokeAll(w http.ResponseWriter, r *http.Request) error {
	if err := h.auth.SignOutEverywhere(r.Context(), actor(r)); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/login", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "You are signed out everywhere.")})
}
