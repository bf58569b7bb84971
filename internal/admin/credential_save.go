package admin

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// credentialSave stores a connector's secret, or an agent's for it.
func (h *Handler) credentialSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	agent, row := agentOf(r)
	if err = f.retype(r.Context()); err == nil {
		err = h.registry.SetCredential(r.Context(), actor(r), ref(r, "id"), agent, f.secrets(c.Auth.Type, ""))
	}
	if problem, ok := mendable(r.Context(), err); ok {
		return h.credentialRefused(w, r, c, row, f, problem)
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, credentialsPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: words.T(r.Context(), "The credential is stored. Sync to use it."),
	})
}

// agentOf is the agent in the path, with the key of its row; nil where the path is the shared credential's.
func agentOf(r *http.Request) (agent *connectors.Ref, row string) {
	if chi.URLParam(r, "agent") == "" {
		return nil, "shared"
	}
	a := ref(r, "agent")
	return &a, string(a)
}
