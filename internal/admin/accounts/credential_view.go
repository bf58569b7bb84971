package accounts

import (
	"context"
	"strconv"
	"time"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// credentialRows shows credentials, or that they are missing.
func credentialRows(
	ctx context.Context, c connectors.Connector, accounts []store.ConnectorAccount, owners map[connectors.AgentID]connectors.Member, now time.Time,
) []templates.CredentialRow {
	form := "/credential"
	if c.Auth.Type == connectors.AuthOAuth2 {
		form = ""
	}
	rows := make([]templates.CredentialRow, len(accounts))
	choosesSyncs := showsSyncs(c, accounts)
	for i, a := range accounts {
		row := templates.CredentialRow{Key: "shared", Owner: "shared", Who: i18n.T(ctx, "All agents"), Action: shell.ConnectorPath(c.Slug) + form, ClientID: c.OAuth.ClientID}
		if id := a.Credential.AgentID; id != nil {
			row.Key, row.Owner = a.Credential.AgentSlug, a.Credential.AgentSlug
			row.Who, row.Href = a.Credential.AgentName, shell.AgentPath(a.Credential.AgentSlug)
			row.Action = shell.ConnectorPath(c.Slug) + shell.AgentPath(a.Credential.AgentSlug) + form
			if m, ok := owners[*id]; ok {
				row.Member = m.DisplayName()
			}
		}
		row.Name = a.Credential.Name
		row.Syncs, row.ChoosesSyncs = choosesSyncs && a.Credential.Syncs, choosesSyncs && a.IsStored() && !a.Credential.Syncs
		if given := connectors.GivenName(row.Name); given != "" {
			row.Key += "." + given
		} else if i > 0 && rows[i-1].Owner == row.Owner {
			row.Key += "." + strconv.Itoa(i) // the name may be hidden
		}
		row.First, row.Last = true, true
		if i > 0 && rows[i-1].Owner == row.Owner {
			rows[i-1].Last, row.First = false, false
		}
		rows[i] = fillRow(ctx, row, c, a, now)
	}
	return rows
}

// showsSyncs reports whether the page shows which account syncs use: several are stored, and one has a name or the server refused the
// chosen one.
func showsSyncs(c connectors.Connector, accounts []store.ConnectorAccount) bool {
	stored, named := 0, false
	for _, a := range accounts {
		if a.IsStored() {
			stored++
			named = named || connectors.GivenName(a.Credential.Name) != ""
		}
	}
	isRefused := c.LastError != nil && connectors.NeedsPerson(c.LastError.Code)
	return stored > 1 && (named || isRefused)
}

// fillRow adds the stored credential to a row.
func fillRow(ctx context.Context, row templates.CredentialRow, c connectors.Connector, a store.ConnectorAccount, now time.Time) templates.CredentialRow {
	credential := a.Credential
	row.Stored, row.State = a.IsStored(), shell.CredentialState(ctx, c.Auth.Type, credential.Status)
	switch {
	case !row.Stored && !a.Granted:
		row.State = templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Not granted")}
		return row
	case !row.Stored:
		return row
	}
	if refused := c.LastError != nil && connectors.NeedsPerson(c.LastError.Code); refused && credential.AgentID == nil && credential.Status == connectors.CredentialActive {
		row.State, row.Open = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Refused by the server")}, true
	}
	row.Account, row.Scopes, row.Error = accountLabel(credential.Account, credential.Identity), credential.Scopes, i18n.TranslateKnown(ctx, credential.Error)
	row.Said, row.Known = respond.NewQuote(ctx, credential.Upstream), credential.Identity.IsKnown()
	row.Facts = credentialFacts(ctx, credential, now)
	if a.EndsAt != nil && credential.Status == connectors.CredentialActive {
		row.State = templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Expires %s", shell.FormatRelative(ctx, *a.EndsAt, now))}
	}
	if credential.Status == connectors.CredentialExpired && row.Error == "" {
		row.Error = i18n.T(ctx, "The access has expired. Connect again.")
	}
	return row
}

// accountLabel names an account, with its organisation.
func accountLabel(account string, i connectors.Identity) string {
	if label := i.Label(); label != "" {
		account = label
	}
	return shell.CleanText(account)
}

// accountStateOptions offers the states of the filter.
func accountStateOptions(ctx context.Context, t connectors.AuthType) []templates.Option {
	return []templates.Option{
		{Value: string(store.AccountAny), Label: i18n.T(ctx, "All states")},
		{Value: string(store.AccountMissing), Label: shell.CredentialState(ctx, t, "").Text},
		{Value: string(store.AccountConnected), Label: shell.CredentialState(ctx, t, connectors.CredentialActive).Text},
		{Value: string(store.AccountAttention), Label: i18n.T(ctx, "Needs attention")},
	}
}

// credentialFacts are a credential's times. A token expires and is refreshed; a secret does not.
func credentialFacts(ctx context.Context, c connectors.Credential, now time.Time) []templates.Fact {
	var facts []templates.Fact
	add := func(label string, w templates.When) { facts = append(facts, templates.Fact{Label: label, When: &w}) }
	if id := c.Identity.Subject; id != "" && id != c.Account {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Account ID"), Value: shell.ShortenText(shell.CleanText(id), shell.MaxName)})
	}
	if c.Type != connectors.AuthOAuth2 {
		add(i18n.T(ctx, "Set"), shell.NewWhen(ctx, c.UpdatedAt, now))
	}
	switch {
	case c.ExpiresAt == nil:
	case c.ExpiresAt.Before(now):
		add(i18n.T(ctx, "Token expired"), shell.NewWhen(ctx, *c.ExpiresAt, now))
	case c.Status != connectors.CredentialRevoked: // a revoked credential has no end to show
		add(i18n.T(ctx, "Token expires"), shell.NewWhen(ctx, *c.ExpiresAt, now))
	}
	if c.ExpiresAt != nil || c.RefreshedAt != nil {
		add(i18n.T(ctx, "Last renewed"), shell.NewWhenOrNever(ctx, c.RefreshedAt, now))
	}
	add(i18n.T(ctx, "Last used"), shell.NewWhenOrNever(ctx, c.LastUsedAt, now))
	return facts
}

// authSentence says how Patchbay authenticates to a server. several: agents share more than one account.
func authSentence(ctx context.Context, tenant connectors.Tenant, c connectors.Connector, several bool) string {
	scope := scopeSentence(ctx, c, several)
	switch c.Auth.Type {
	case connectors.AuthNone:
		return i18n.T(ctx, "No credential sent.")
	case connectors.AuthBearer:
		return i18n.T(ctx, "Bearer token. %s", scope)
	case connectors.AuthAPIKey:
		return i18n.T(ctx, "Key in the %s header. %s", connectorpages.KeyHeader(c), scope)
	case connectors.AuthBasic:
		return i18n.T(ctx, "Username and password. %s", scope)
	case connectors.AuthOAuth2:
		if c.OAuth.TokenExchange != "" && tenant.TokenExchange {
			return i18n.T(ctx, "Token exchange: an agent acts as its member, or as itself, without a sign-in. %s", scope)
		}
		if c.OAuth.TokenExchange != "" {
			return i18n.T(ctx, "Token exchange is off in Settings, so a person connects each account. %s", scope)
		}
		return i18n.T(ctx, "Sign-in on the server's page, renewed while in use. %s", scope)
	case connectors.AuthClientCredentials:
		return i18n.T(ctx, "Client ID and secret.") + " " + scope
	case connectors.AuthPrivateKeyJWT:
		return i18n.T(ctx, "Client ID and private key.") + " " + scope
	default:
		return shell.AuthName(ctx, c.Auth.Type) + ". " + scope
	}
}

// scopeSentence says which agents use a credential or account. several: they share more than one.
func scopeSentence(ctx context.Context, c connectors.Connector, several bool) string {
	account, each := c.Auth.Type == connectors.AuthOAuth2, c.CredentialMode == connectors.CredentialPerAgent
	switch {
	case several && !each:
		return i18n.T(ctx, "Several accounts for all agents: choose one in each agent's access.")
	case account && each:
		return i18n.T(ctx, "Each agent has its own account.")
	case account:
		return i18n.T(ctx, "One account for all agents.")
	case each:
		return i18n.T(ctx, "Each agent has its own credential.")
	default:
		return i18n.T(ctx, "One credential for all agents.")
	}
}
