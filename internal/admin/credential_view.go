package admin

import (
	"time"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// holdings are what of a connector's credentials is known.
type holdings struct {
	stored map[connectors.AgentID]connectors.Credential // the shared one is under the zero id
	lapses map[string]time.Time                         // by the agent's slug, the shared one's empty: accounts that end soon
}

// credentialRows has one row for the shared credential, or one for each agent.
func credentialRows(c connectors.Connector, agents []connectors.Agent, held holdings, now time.Time) []templates.CredentialRow {
	if c.Auth.Type == connectors.AuthNone {
		return nil
	}
	form := "/credential"
	if c.Auth.Type == connectors.AuthOAuth2 {
		form = ""
	}
	if c.CredentialMode == connectors.CredentialShared {
		row := templates.CredentialRow{Key: "shared", Who: "All agents", Action: connectorPath(c.Slug) + form, ClientID: c.OAuth.ClientID}
		return []templates.CredentialRow{held.fill(row, c, connectors.Agent{}, now)}
	}
	rows := make([]templates.CredentialRow, len(agents))
	for i, a := range agents {
		rows[i] = held.fill(templates.CredentialRow{
			Key: a.Slug, Who: a.Name, Href: agentPath(a.Slug), Action: connectorPath(c.Slug) + agentPath(a.Slug) + form, ClientID: c.OAuth.ClientID,
		}, c, a, now)
	}
	return rows
}

// fill completes a row with what is stored for it.
func (h holdings) fill(row templates.CredentialRow, c connectors.Connector, owner connectors.Agent, now time.Time) templates.CredentialRow {
	held, ok := h.stored[owner.ID]
	row.Stored = ok
	row.State = credentialState(c.Auth.Type, held.Status)
	if !ok {
		return row
	}
	row.Account, row.Scopes, row.Error = clean(held.Account), held.Scopes, held.Error
	row.Facts = credentialFacts(held, now)
	if at, soon := h.lapses[owner.Slug]; soon && held.Status == connectors.CredentialActive {
		row.State = templates.State{Kind: templates.StateWarn, Text: "Expires " + relative(at, now)}
	}
	if held.Status == connectors.CredentialExpired && row.Error == "" {
		row.Error = "The access has ended and cannot be renewed. Connect again."
	}
	return row
}

// credentialFacts are the times of a credential. A token ends, and is renewed; a secret is set, and stays.
func credentialFacts(c connectors.Credential, now time.Time) []templates.Fact {
	var facts []templates.Fact
	add := func(label string, w templates.When) { facts = append(facts, templates.Fact{Label: label, When: &w}) }
	if c.Type != connectors.AuthOAuth2 {
		add("Set", when(c.UpdatedAt, now))
	}
	switch {
	case c.ExpiresAt == nil:
	case c.ExpiresAt.Before(now):
		add("Token ended", when(*c.ExpiresAt, now))
	case c.Status != connectors.CredentialRevoked: // a dead one ends nothing
		add("Token ends", when(*c.ExpiresAt, now))
	}
	if c.ExpiresAt != nil || c.RefreshedAt != nil {
		add("Last renewed", whenOrNever(c.RefreshedAt, now))
	}
	add("Last used", whenOrNever(c.LastUsedAt, now))
	return facts
}

// authSentence says how a server is signed in to.
func authSentence(c connectors.Connector) string {
	thing := "credential"
	if c.Auth.Type == connectors.AuthOAuth2 {
		thing = "account"
	}
	whose := "One " + thing + " serves all agents."
	if c.CredentialMode == connectors.CredentialPerAgent {
		whose = "Each agent has " + map[string]string{"credential": "a credential", "account": "an account"}[thing] + " of its own, and never uses another's."
	}
	switch c.Auth.Type {
	case connectors.AuthNone:
		return "Nothing is sent to prove who is asking."
	case connectors.AuthBearer:
		return "A token is sent as a bearer token. " + whose
	case connectors.AuthAPIKey:
		return "A key is sent in the header " + keyHeader(c) + ". " + whose
	case connectors.AuthBasic:
		return "A user name and a password are sent. " + whose
	case connectors.AuthOAuth2:
		return "A person signs in on the server's own page, and the access is renewed for as long as it is used. " + whose
	case connectors.AuthClientCredentials:
		return "Patchbay signs in by itself, with a client id and its secret. " + whose
	case connectors.AuthPrivateKeyJWT:
		return "Patchbay signs in by itself, with a client id and a private key. " + whose
	default:
		return authName(c.Auth.Type) + ". " + whose
	}
}
