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
	f, err := readConnectorForm(w, r)
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
	if c.Transport == connectors.TransportAPI && f.Text("curl") == "" {
		return h.Respond.Back(w, r, operationsPath(c.Slug), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Added “%s”. Pick its operations.", c.Name)})
	}
	return h.firstStep(w, r, c)
}

// firstStep leads to what a new connector needs: an account, a credential, or its first sync.
func (h *Handler) firstStep(w http.ResponseWriter, r *http.Request, c connectors.Connector) error {
	to, next := shell.CredentialsPath(c.Slug), i18n.T(r.Context(), "Connect it.")
	switch perAgent := c.CredentialMode == connectors.CredentialPerAgent; {
	case c.Auth.Type == connectors.AuthOAuth2 && perAgent:
		next = i18n.T(r.Context(), "Connect its agents' accounts.")
	case c.Auth.Type == connectors.AuthOAuth2:
	case c.Auth.Type != connectors.AuthNone && perAgent:
		next = i18n.T(r.Context(), "Set its agents' credentials.")
	case c.Enabled:
		return h.StartConnector(w, r, c)
	}
	return h.Respond.Back(w, r, to, respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Added “%s”. %s", c.Name, next),
	})
}

func (h *Handler) createConnector(r *http.Request, f shell.PostedForm) (connectors.Connector, error) {
	d, err := readDraft(r.Context(), f, shell.Actor(r).Tenant.Defaults.Draft())
	if err != nil {
		return connectors.Connector{}, err
	}
	if d.Transport == connectors.TransportAPI {
		return h.createAPI(r, f, d)
	}
	if d.Name == "" {
		d.Name = suggestName(d.URL)
	}
	return h.Registry.CreateConnector(r.Context(), shell.Actor(r), d, ReadSecrets(f, d.Auth.Type, "auth."))
}
