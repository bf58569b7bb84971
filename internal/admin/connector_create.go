package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// connectorCreate adds a connector.
func (h *Handler) connectorCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	c, err := h.createConnector(r, f)
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.connectorFormPage(w, r, respond.Status(problem.Kind), f.toForm(problem), nil)
	}
	if err != nil {
		return err
	}
	to, next := connectorPath(c.Slug), i18n.T(r.Context(), "Sync it to read its tools.")
	switch {
	case c.Auth.Type == connectors.AuthOAuth2 && c.CredentialMode == connectors.CredentialPerAgent:
		to, next = credentialsPath(c.Slug), i18n.T(r.Context(), "Connect the accounts of its agents.")
	case c.Auth.Type == connectors.AuthOAuth2:
		to, next = credentialsPath(c.Slug), i18n.T(r.Context(), "Connect it.")
	case c.Auth.Type != connectors.AuthNone && c.CredentialMode == connectors.CredentialPerAgent:
		to, next = credentialsPath(c.Slug), i18n.T(r.Context(), "Set the credentials of its agents.")
	}
	return h.respond.Back(w, r, to, respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "'%s' is added. %s", c.Name, next),
	})
}

func (h *Handler) createConnector(r *http.Request, f postedForm) (connectors.Connector, error) {
	d, err := readDraft(r.Context(), f, actor(r).Tenant.Defaults.Draft())
	if err != nil {
		return connectors.Connector{}, err
	}
	return h.registry.CreateConnector(r.Context(), actor(r), d, readSecrets(f, d.Auth.Type, "auth."))
}
