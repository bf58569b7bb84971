package accounts

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

func (h *Handler) credentialSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	of, place := readPostedAccount(r, f)
	if err = h.prepareAdded(r, f, of); err == nil {
		err = h.Registry.SetAccount(r.Context(), shell.Actor(r), of, connectorpages.ReadSecrets(f, c.Auth.Type, ""))
	}
	if err != nil && place.part == addPart {
		return h.renderAccountError(w, r, place, f, "account", err)
	}
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.credentialsPage(w, r, credentialsPageState{status: respond.Status(problem.Kind), place: place, form: f, problem: problem})
	}
	if err != nil {
		return err
	}
	text := i18n.T(r.Context(), "Credential saved. Sync to use it.")
	if place.part == addPart {
		text = i18n.T(r.Context(), "Account “%s” added. Choose it in an agent's access to use it.", of.Name)
	}
	return h.Respond.Back(w, r, shell.CredentialsPath(c.Slug), respond.Flash{Kind: respond.Notice, Text: text})
}

// readPathAgent returns the agent in the path and the key of its row; nil for the shared credential.
func readPathAgent(r *http.Request) (agent *connectors.Ref, row string) {
	if chi.URLParam(r, "agent") == "" {
		return nil, "shared"
	}
	a := shell.PathRef(r, "agent")
	return &a, string(a)
}
