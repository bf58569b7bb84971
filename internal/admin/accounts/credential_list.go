package accounts

import (
	"cmp"
	"context"
	"net/http"
	"time"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// credentialList shows a connector's credentials, without secrets.
func (h *Handler) credentialList(w http.ResponseWriter, r *http.Request) error {
	return h.credentialsPage(w, r, credentialsPageState{})
}

// credentialsPageState is the result of an action on the page.
type credentialsPageState struct {
	status    int // 0: 200
	alert     string
	link      *templates.ConnectLink
	diagnosis *templates.Diagnosis

	// A refused form.
	row     string // the row's key
	form    shell.PostedForm
	problem *fault.Error
}

func (h *Handler) credentialsPage(w http.ResponseWriter, r *http.Request, state credentialsPageState) error {
	var (
		c           connectors.Connector
		credentials connectorCredentials
		agents      store.List[connectors.Agent]
	)
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		if credentials, err = loadCredentials(r, tx, c); err != nil {
			return err
		}
		if agents, err = tx.Agents().List(r.Context(), shell.ReadPage(r)); err != nil {
			return err
		}
		credentials.owners, err = loadAgentOwners(r.Context(), tx.Accounts(), c, agents.Items)
		return err
	})
	if err != nil {
		return err
	}
	page := templates.ConnectorCredentialsPage{
		Frame:     h.ConnectorPages.ConnectorFrame(r, c, i18n.T(r.Context(), "Credentials")),
		Head:      connectorpages.ConnectorHead(r.Context(), c, templates.TabCredentials),
		Auth:      c.Auth.Type,
		Mode:      c.CredentialMode,
		About:     authSentence(r.Context(), c),
		Rows:      credentialRows(r.Context(), c, agents.Items, credentials, h.Now()),
		Agents:    len(agents.Items) > 0,
		Link:      state.link,
		Diagnosis: state.diagnosis,
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		page.Pager = shell.NewPager(r, agents.Next)
	}
	if r.Method == http.MethodPost {
		page.Frame.Path = shell.CredentialsPath(c.Slug) // where the page's forms return to
	}
	if state.alert != "" {
		page.Frame.Flash = &templates.Flash{Kind: templates.FlashAlert, Text: state.alert}
	}
	if page.Diagnosis == nil && page.Frame.Can.Manage && usesOAuth(c) {
		page.Diagnosis = h.newDiagnosis(r.Context(), c, nil)
	}
	for i := range page.Rows {
		if state.problem != nil && page.Rows[i].Key == state.row {
			page.Rows[i].Form = state.form.ToForm(state.problem)
			page.Rows[i].Open = true
		}
	}
	return h.Respond.Page(w, r, cmp.Or(state.status, http.StatusOK), templates.ConnectorCredentials(page))
}

// loadAgentOwners returns the members that own agents. Their accounts cannot be connected by a link.
func loadAgentOwners(ctx context.Context, tenant store.Accounts, c connectors.Connector, agents []connectors.Agent) (map[connectors.AgentID]connectors.Member, error) {
	if c.CredentialMode != connectors.CredentialPerAgent || c.Auth.Type != connectors.AuthOAuth2 {
		return nil, nil
	}
	ids := make([]connectors.AgentID, len(agents))
	for i, a := range agents {
		ids[i] = a.ID
	}
	return tenant.AgentsOfMembers(ctx, ids...)
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
func loadCredentials(r *http.Request, tenant *store.Tenant, c connectors.Connector) (connectorCredentials, error) {
	credentials := connectorCredentials{stored: map[connectors.AgentID]connectors.Credential{}, expiring: map[string]time.Time{}}
	for page := (store.Page{Limit: 200}); ; {
		list, err := tenant.Connectors().Credentials(r.Context(), c.ID, page)
		if err != nil {
			return connectorCredentials{}, err
		}
		if err := shell.Actor(r).HideAccounts(r.Context(), tenant.Accounts(), list.Items); err != nil {
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
	expiring, err := tenant.Accounts().ExpiringCredentials(r.Context(), connectorpages.ExpiryHorizon, connectorpages.MaxExpiring)
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

// renderCredentialError shows a credential's form again, with its errors.
func (h *Handler) renderCredentialError(w http.ResponseWriter, r *http.Request, row string, f shell.PostedForm, problem *fault.Error) error {
	return h.credentialsPage(w, r, credentialsPageState{status: respond.Status(problem.Kind), row: row, form: f, problem: problem})
}
