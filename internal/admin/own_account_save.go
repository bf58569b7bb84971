package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// ownAccountSave stores a secret of the person.
func (h *Handler) ownAccountSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	own, err := h.findOwnAccount(r)
	if err != nil {
		return err
	}
	connector, agent := accountRefs(own)
	if err = f.checkSecretsRetyped(r.Context()); err == nil {
		err = h.registry.SetCredential(r.Context(), actor(r), connector, agent, readSecrets(f, own.AuthType, ""))
	}
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.ownAccountPage(w, r, respond.Status(problem.Kind), own, f, problem)
	}
	if err != nil {
		return err
	}
	return h.redirectToOwnAccount(w, r, own, i18n.T(r.Context(), "Connected '%s'.", own.ConnectorName))
}
