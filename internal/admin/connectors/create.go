package connectors

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// connectorCreate adds a connector.
func (h *Handler) connectorCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	c, err := h.createConnector(r, f)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.connectorFormPage(w, r, respond.Status(problem.Kind), f.ToForm(problem), nil)
	}
	if err != nil {
		return err
	}
	to, next := shell.ConnectorPath(c.Slug), i18n.T(r.Context(), "Sync it to read its tools.")
	switch {
	case c.Auth.Type == connectors.AuthOAuth2 && c.CredentialMode == connectors.CredentialPerAgent:
		to, next = shell.CredentialsPath(c.Slug), i18n.T(r.Context(), "Connect the accounts of its agents.")
	case c.Auth.Type == connectors.AuthOAuth2:
		to, next = shell.CredentialsPath(c.Slug), i18n.T(r.Context(), "Connect it.")
	case c.Auth.Type != connectors.AuthNone && c.CredentialMode == connectors.CredentialPerAgent:
		to, next = shell.CredentialsPath(c.Slug), i18n.T(r.Context(), "Set the credentials of its agents.")
	}
	return h.Respond.Back(w, r, to, respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "'%s' is added. %s", c.Name, next),
	})
}

func (h *Handler) createConnector(r *http.Request, f shell.PostedForm) (connectors.Connector, error) {
	d, err := readDraft(r.Context(), f, shell.Actor(r).Tenant.Defaults.Draft())
	if err != nil {
		return connectors.Connector{}, err
	}
	return h.Registry.CreateConnector(r.Context(), shell.Actor(r), d, ReadSecrets(f, d.Auth.Type, "auth."))
}
