package admin

import (
	"cmp"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// credentialList shows a connector's credentials, without secrets.
func (h *Handler) credentialList(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenantStore(r).Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	return h.credentialsPage(w, r, c, credentialsPageState{})
}

// credentialsPageState is the result of an action on the page.
type credentialsPageState struct {
	status    int // 0: 200
	alert     string
	link      *templates.ConnectLink
	diagnosis *templates.Diagnosis

	// A refused form.
	row     string // the row's key
	form    postedForm
	problem *fault.Error
}

func (h *Handler) credentialsPage(w http.ResponseWriter, r *http.Request, c connectors.Connector, state credentialsPageState) error {
	credentials, err := h.loadCredentials(r, c)
	if err != nil {
		return err
	}
	agents, err := h.tenantStore(r).Agents(r.Context(), readPage(r))
	if err != nil {
		return err
	}
	if credentials.owners, err = h.loadAgentOwners(r, c, agents.Items); err != nil {
		return err
	}
	page := templates.ConnectorCredentialsPage{
		Frame:     h.connectorFrame(r, c, i18n.T(r.Context(), "Credentials")),
		Head:      connectorHead(r.Context(), c, templates.TabCredentials),
		Auth:      c.Auth.Type,
		Mode:      c.CredentialMode,
		About:     authSentence(r.Context(), c),
		Rows:      credentialRows(r.Context(), c, agents.Items, credentials, h.now()),
		Agents:    len(agents.Items) > 0,
		Link:      state.link,
		Diagnosis: state.diagnosis,
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		page.Pager = newPager(r, agents.Next)
	}
	if r.Method == http.MethodPost {
		page.Frame.Path = credentialsPath(c.Slug) // where the page's forms return to
	}
	if state.alert != "" {
		page.Frame.Flash = &templates.Flash{Kind: templates.FlashAlert, Text: state.alert}
	}
	if page.Diagnosis == nil && page.Frame.Can.Manage && usesOAuth(c) {
		page.Diagnosis = h.newDiagnosis(r.Context(), c, nil)
	}
	for i := range page.Rows {
		if state.problem != nil && page.Rows[i].Key == state.row {
			page.Rows[i].Form = state.form.toForm(state.problem)
			page.Rows[i].Open = true
		}
	}
	return h.respond.Page(w, r, cmp.Or(state.status, http.StatusOK), templates.ConnectorCredentials(page))
}

// loadAgentOwners returns the members that own agents. Their accounts cannot be connected by a link.
func (h *Handler) loadAgentOwners(r *http.Request, c connectors.Connector, agents []connectors.Agent) (map[connectors.AgentID]connectors.Member, error) {
	if c.CredentialMode != connectors.CredentialPerAgent || c.Auth.Type != connectors.AuthOAuth2 {
		return nil, nil
	}
	ids := make([]connectors.AgentID, len(agents))
	for i, a := range agents {
		ids[i] = a.ID
	}
	return h.tenantStore(r).AgentsOfMembers(r.Context(), ids...)
}

// usesOAuth reports whether a connector has an authorization server to discover.
func usesOAuth(c connectors.Connector) bool {
	switch c.Auth.Type {
	case connectors.AuthOAuth2, connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT:
		return true
	default:
		return false
	}
}

// loadCredentials reads a connector's credentials, without their secrets.
func (h *Handler) loadCredentials(r *http.Request, c connectors.Connector) (connectorCredentials, error) {
	credentials := connectorCredentials{stored: map[connectors.AgentID]connectors.Credential{}, expiring: map[string]time.Time{}}
	for page := (store.Page{Limit: 200}); ; {
		list, err := h.tenantStore(r).Credentials(r.Context(), c.ID, page)
		if err != nil {
			return connectorCredentials{}, err
		}
		if err := actor(r).HideAccounts(r.Context(), h.tenantStore(r), list.Items); err != nil {
			return connectorCredentials{}, err
		}
		for _, one := range list.Items {
			credentials.stored[credentialOwner(one)] = one
		}
		if page.Cursor = list.Next; page.Cursor == "" {
			break
		}
	}
	if c.Auth.Type != connectors.AuthOAuth2 || len(credentials.stored) == 0 {
		return credentials, nil
	}
	expiring, err := h.tenantStore(r).ExpiringCredentials(r.Context(), expiryHorizon, maxExpiring)
	if err != nil {
		return connectorCredentials{}, err
	}
	for _, one := range expiring {
		if one.ConnectorSlug == c.Slug {
			credentials.expiring[one.AgentSlug] = one.EndsAt
		}
	}
	return credentials, nil
}

func credentialOwner(c connectors.Credential) connectors.AgentID {
	if c.AgentID == nil {
		return connectors.AgentID{}
	}
	return *c.AgentID
}

// credentialRefused shows a credential's form again, with its errors.
func (h *Handler) credentialRefused(w http.ResponseWriter, r *http.Request, c connectors.Connector, row string, f postedForm, problem *fault.Error) error {
	return h.credentialsPage(w, r, c, credentialsPageState{status: respond.Status(problem.Kind), row: row, form: f, problem: problem})
}
