package accounts

import (
	"context"
	"time"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// connectorCredentials are a connector's credentials, without secrets.
type connectorCredentials struct {
	stored   map[connectors.AgentID]connectors.Credential // the shared one has the zero id
	expiring map[string]time.Time                         // accounts that end soon by the agent's slug, empty for the shared one
	owners   map[connectors.AgentID]connectors.Member     // of agents that belong to a member
}

// credentialRows has one row for the shared credential, or one per agent.
func credentialRows(ctx context.Context, c connectors.Connector, agents []connectors.Agent, credentials connectorCredentials, now time.Time) []templates.CredentialRow {
	if c.Auth.Type == connectors.AuthNone {
		return nil
	}
	form := "/credential"
	if c.Auth.Type == connectors.AuthOAuth2 {
		form = ""
	}
	if c.CredentialMode == connectors.CredentialShared {
		row := templates.CredentialRow{Key: "shared", Who: i18n.T(ctx, "All agents"), Action: shell.ConnectorPath(c.Slug) + form, ClientID: c.OAuth.ClientID}
		return []templates.CredentialRow{credentials.fillRow(ctx, row, c, connectors.Agent{}, now)}
	}
	rows := make([]templates.CredentialRow, len(agents))
	for i, a := range agents {
		rows[i] = credentials.fillRow(ctx, templates.CredentialRow{
			Key: a.Slug, Who: a.Name, Href: shell.AgentPath(a.Slug), Action: shell.ConnectorPath(c.Slug) + shell.AgentPath(a.Slug) + form, ClientID: c.OAuth.ClientID,
		}, c, a, now)
	}
	return rows
}

// fillRow adds the stored credential to a row.
func (h connectorCredentials) fillRow(ctx context.Context, row templates.CredentialRow, c connectors.Connector, owner connectors.Agent, now time.Time) templates.CredentialRow {
	credential, ok := h.stored[owner.ID]
	row.Stored = ok
	if m, ok := h.owners[owner.ID]; ok {
		row.Member = m.DisplayName()
	}
	row.State = shell.CredentialState(ctx, c.Auth.Type, credential.Status)
	if !ok {
		return row
	}
	row.Account, row.Scopes, row.Error = shell.CleanText(credential.Account), credential.Scopes, i18n.TranslateKnown(ctx, credential.Error)
	row.Facts = credentialFacts(ctx, credential, now)
	if expiresAt, expires := h.expiring[owner.Slug]; expires && credential.Status == connectors.CredentialActive {
		row.State = templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Expires %s", shell.FormatRelative(ctx, expiresAt, now))}
	}
	if credential.Status == connectors.CredentialExpired && row.Error == "" {
		row.Error = i18n.T(ctx, "The access has ended and cannot be renewed. Connect again.")
	}
	return row
}

// credentialFacts are a credential's times. A token expires and is refreshed; a secret does not.
func credentialFacts(ctx context.Context, c connectors.Credential, now time.Time) []templates.Fact {
	var facts []templates.Fact
	add := func(label string, w templates.When) { facts = append(facts, templates.Fact{Label: label, When: &w}) }
	if c.Type != connectors.AuthOAuth2 {
		add(i18n.T(ctx, "Set"), shell.NewWhen(ctx, c.UpdatedAt, now))
	}
	switch {
	case c.ExpiresAt == nil:
	case c.ExpiresAt.Before(now):
		add(i18n.T(ctx, "Token ended"), shell.NewWhen(ctx, *c.ExpiresAt, now))
	case c.Status != connectors.CredentialRevoked: // a revoked credential has no end to show
		add(i18n.T(ctx, "Token ends"), shell.NewWhen(ctx, *c.ExpiresAt, now))
	}
	if c.ExpiresAt != nil || c.RefreshedAt != nil {
		add(i18n.T(ctx, "Last renewed"), shell.NewWhenOrNever(ctx, c.RefreshedAt, now))
	}
	add(i18n.T(ctx, "Last used"), shell.NewWhenOrNever(ctx, c.LastUsedAt, now))
	return facts
}

// authSentence says how Patchbay authenticates to a server.
func authSentence(ctx context.Context, c connectors.Connector) string {
	scope := scopeSentence(ctx, c)
	switch c.Auth.Type {
	case connectors.AuthNone:
		return i18n.T(ctx, "Nothing is sent to prove who is asking.")
	case connectors.AuthBearer:
		return i18n.T(ctx, "A token is sent as a bearer token. %s", scope)
	case connectors.AuthAPIKey:
		return i18n.T(ctx, "A key is sent in the header %s. %s", connectorpages.KeyHeader(c), scope)
	case connectors.AuthBasic:
		return i18n.T(ctx, "A user name and a password are sent. %s", scope)
	case connectors.AuthOAuth2:
		return i18n.T(ctx, "A person signs in on the server's own page, and the access is renewed for as long as it is used. %s", scope)
	case connectors.AuthClientCredentials:
		return i18n.T(ctx, "Patchbay signs in by itself, with a client id and its secret.") + " " + scope
	case connectors.AuthPrivateKeyJWT:
		return i18n.T(ctx, "Patchbay signs in by itself, with a client id and a private key.") + " " + scope
	default:
		return shell.AuthName(ctx, c.Auth.Type) + ". " + scope
	}
}

// scopeSentence says which agents use a credential or account.
func scopeSentence(ctx context.Context, c connectors.Connector) string {
	account, each := c.Auth.Type == connectors.AuthOAuth2, c.CredentialMode == connectors.CredentialPerAgent
	switch {
	case account && each:
		return i18n.T(ctx, "Each agent has an account of its own, and never uses another's.")
	case account:
		return i18n.T(ctx, "One account serves all agents.")
	case each:
		return i18n.T(ctx, "Each agent has a credential of its own, and never uses another's.")
	default:
		return i18n.T(ctx, "One credential serves all agents.")
	}
}
