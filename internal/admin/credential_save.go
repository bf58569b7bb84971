package admin

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

func (h *Handler) credentialSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	c, err := h.tenantStore(r).Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	agent, row := readPathAgent(r)
	if err = f.checkSecretsRetyped(r.Context()); err == nil {
		err = h.registry.SetCredential(r.Context(), actor(r), pathRef(r, "id"), agent, readSecrets(f, c.Auth.Type, ""))
	}
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.renderCredentialError(w, r, row, f, problem)
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, credentialsPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "The credential is stored. Sync to use it."),
	})
}

// readPathAgent returns the agent in the path and the key of its row; nil for the shared credential.
func readPathAgent(r *http.Request) (agent *connectors.Ref, row string) {
	if chi.URLParam(r, "agent") == "" {
		return nil, "shared"
	}
	a := pathRef(r, "agent")
	return &a, string(a)
}
