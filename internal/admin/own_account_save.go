package admin

import (
	"net/http"

	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// ownAccountSave stores a secret of the person's own.
func (h *Handler) ownAccountSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	own, err := h.own(r)
	if err != nil {
		return err
	}
	connector, agent := refsOf(own)
	if err = f.retype(r.Context()); err == nil {
		err = h.registry.SetCredential(r.Context(), actor(r), connector, agent, f.secrets(own.AuthType, ""))
	}
	if problem, ok := mendable(r.Context(), err); ok {
		return h.ownAccountPage(w, r, respond.Status(problem.Kind), own, f, problem)
	}
	if err != nil {
		return err
	}
	return h.ownBack(w, r, own, words.T(r.Context(), "Connected '%s'.", own.ConnectorName))
}
