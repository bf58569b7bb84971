package accounts

import (
	"net/http"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// ownAccountSave stores a secret of the person.
func (h *Handler) ownAccountSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	own, err := h.findOwnAccount(r)
	if err != nil {
		return err
	}
	connector, agent := accountRefs(own)
	err = h.Registry.SetCredential(r.Context(), shell.Actor(r), connector, agent, connectorpages.ReadSecrets(f, own.AuthType, ""))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.ownAccountPage(w, r, respond.Status(problem.Kind), own, f, problem)
	}
	if err != nil {
		return err
	}
	return h.redirectToOwnAccount(w, r, own, i18n.T(r.Context(), "Connected “%s”.", own.ConnectorName))
}
