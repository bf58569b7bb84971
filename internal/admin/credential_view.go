package admin

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// holdings are what of a connector's credentials is known.
type holdings struct {
	stored map[connectors.AgentID]connectors.Credential // the shared one is under the zero id
	lapses map[string]time.Time                         // by the agent's slug, the shared one's empty: accounts that end soon
	whose  map[connectors.AgentID]connectors.Member     // of the agents that belong to a member
}

// credentialRows has one row for the shared credential, or one for each agent.
func credentialRows(ctx context.Context, c connectors.Connector, agents []connectors.Agent, held holdings, now time.Time) []templates.CredentialRow {
	if c.Auth.Type == connectors.AuthNone {
		return nil
	}
	form := "/credential"
	if c.Auth.Type == connectors.AuthOAuth2 {
		form = ""
	}
	if c.CredentialMode == connectors.CredentialShared {
		row := templates.CredentialRow{Key: "shared", Who: words.T(ctx, "All agents"), Action: connectorPath(c.Slug) + form, ClientID: c.OAuth.ClientID}
		return []templates.CredentialRow{held.fill(ctx, row, c, connectors.Agent{}, now)}
	}
	rows := make([]templates.CredentialRow, len(agents))
	for i, a := range agents {
		rows[i] = held.fill(ctx, templates.CredentialRow{
			Key: a.Slug, Who: a.Name, Href: agentPath(a.Slug), Action: connectorPath(c.Slug) + agentPath(a.Slug) + form, ClientID: c.OAuth.ClientID,
		}, c, a, now)
	}
	return rows
}

// fill completes a row with what is stored for it.
func (h holdings) fill(ctx context.Context, row templates.CredentialRow, c connectors.Connector, owner connectors.Agent, now time.Time) templates.CredentialRow {
	held, ok := h.stored[owner.ID]
	row.Stored = ok
	if m, ok := h.whose[owner.ID]; ok {
		row.Member = m.DisplayName()
	}
	row.State = credentialState(ctx, c.Auth.Type, held.Status)
	if !ok {
		return row
	}
	row.Account, row.Scopes, row.Error = clean(held.Account), held.Scopes, words.Said(ctx, held.Error)
	row.Facts = credentialFacts(ctx, held, now)
	if at, soon := h.lapses[owner.Slug]; soon && held.Status == connectors.CredentialActive {
		row.State = templates.State{Kind: templates.StateWarn, Text: words.T(ctx, "Expires %s", relative(ctx, at, now))}
	}
	if held.Status == connectors.CredentialExpired && row.Error == "" {
		row.Error = words.T(ctx, "The access has ended and cannot be renewed. Connect again.")
	}
	return row
}

// credentialFacts are the times of a credential. A token ends, and is renewed; a secret is set, and stays.
func credentialFacts(ctx context.Context, c connectors.Credential, now time.Time) []templates.Fact {
	var facts []templates.Fact
	add := func(label string, w templates.When) { facts = append(facts, templates.Fact{Label: label, When: &w}) }
	if c.Type != connectors.AuthOAuth2 {
		add(words.T(ctx, "Set"), when(ctx, c.UpdatedAt, now))
	}
	switch {
	case c.ExpiresAt == nil:
	case c.ExpiresAt.Before(now):
		add(words.T(ctx, "Token ended"), when(ctx, *c.ExpiresAt, now))
	case c.Status != connectors.CredentialRevoked: // a dead one ends nothing
		add(words.T(ctx, "Token ends"), when(ctx, *c.ExpiresAt, now))
	}
	if c.ExpiresAt != nil || c.RefreshedAt != nil {
		add(words.T(ctx, "Last renewed"), whenOrNever(ctx, c.RefreshedAt, now))
	}
	add(words.T(ctx, "Last used"), whenOrNever(ctx, c.LastUsedAt, now))
	return facts
}

// authSentence says how a server is signed in to.
func authSentence(ctx context.Context, c connectors.Connector) string {
	whose := whoseSentence(ctx, c)
	switch c.Auth.Type {
	case connectors.AuthNone:
		return words.T(ctx, "Nothing is sent to prove who is asking.")
	case connectors.AuthBearer:
		return words.T(ctx, "A token is sent as a bearer token. %s", whose)
	case connectors.AuthAPIKey:
		return words.T(ctx, "A key is sent in the header %s. %s", keyHeader(c), whose)
	case connectors.AuthBasic:
		return words.T(ctx, "A user name and a password are sent. %s", whose)
	case connectors.AuthOAuth2:
		return words.T(ctx, "A person signs in on the server's own page, and the access is renewed for as long as it is used. %s", whose)
	case connectors.AuthClientCredentials:
		return words.T(ctx, "Patchbay signs in by itself, with a client id and its secret.") + " " + whose
	case connectors.AuthPrivateKeyJWT:
		return words.T(ctx, "Patchbay signs in by itself, with a client id and a private key.") + " " + whose
	default:
		return authName(ctx, c.Auth.Type) + ". " + whose
	}
}

// whoseSentence says whom a credential or an account serves.
func whoseSentence(ctx context.Context, c connectors.Connector) string {
	account, each := c.Auth.Type == connectors.AuthOAuth2, c.CredentialMode == connectors.CredentialPerAgent
	switch {
	case account && each:
		return words.T(ctx, "Each agent has an account of its own, and never uses another's.")
	case account:
		return words.T(ctx, "One account serves all agents.")
	case each:
		return words.T(ctx, "Each agent has a credential of its own, and never uses another's.")
	default:
		return words.T(ctx, "One credential serves all agents.")
	}
}
