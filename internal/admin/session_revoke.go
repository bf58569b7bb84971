package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// sessionRevoke signs the person out in another browser.
func (h *Handler) sessionRevoke(w http.ResponseWriter, r *http.Request) error {
	id, ok := ref(r, "id").UUID()
	if !ok {
		return fault.Errorf(fault.NotFound, "There is no such session.")
	}
	if err := h.auth.RevokeSession(r.Context(), actor(r), connectors.SessionID{UUID: id}); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/account#sessions", respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "That browser is signed out.")})
}

// sessionsEnd signs the person out in every browser, this one too.
func (h *Handler) sessionsEnd(w http.ResponseWriter, r *http.Request) error {
	if err := h.auth.SignOutEverywhere(r.Context(), actor(r)); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/login", respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "You are signed out everywhere.")})
}
