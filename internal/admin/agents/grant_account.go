package agents

import (
	"context"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// loadAccountNames returns the names of the accounts from which a grant chooses: the agent's, or the shared ones.
func loadAccountNames(ctx context.Context, accounts store.Accounts, c connectors.Connector, agent connectors.AgentID) ([]string, error) {
	if c.Auth.Type == connectors.AuthNone {
		return nil, nil
	}
	var owner *connectors.AgentID
	if c.CredentialMode == connectors.CredentialPerAgent {
		owner = &agent
	}
	return accounts.Names(ctx, c.ID, owner)
}

// choosesAccount reports whether the form asks for the accounts: there are several, or the grant binds one that is gone.
func (g grantState) choosesAccount() bool { return len(g.accounts) > 1 || len(g.goneAccounts()) > 0 }

// goneAccounts are the grant's accounts that do not exist.
func (g grantState) goneAccounts() []string {
	return slices.DeleteFunc(slices.Clone(g.grant.Accounts), func(name string) bool { return slices.Contains(g.accounts, name) })
}

// accountChoices offers the accounts, chosen as in the refused form, or as in the grant; nil: the form does not ask.
func (g grantState) accountChoices() []templates.Choice {
	if !g.choosesAccount() {
		return nil
	}
	chosen := g.grant.Accounts
	if g.posted != nil {
		chosen = g.posted
	}
	choices := make([]templates.Choice, len(g.accounts))
	for i, name := range g.accounts {
		choices[i] = templates.Choice{Value: name, Label: name, Chosen: slices.Contains(chosen, name)}
	}
	return choices
}

// missingAccount says that accounts of the grant are gone, or that it has none of several; empty: neither.
func (g grantState) missingAccount(ctx context.Context) string {
	gone := g.goneAccounts()
	switch {
	case len(gone) > 0:
		return i18n.T(ctx, "This grant uses the account “%s”, which doesn't exist any more. Calls fail until you choose another one, or connect one of that name.", strings.Join(gone, "”, “"))
	case g.exists && len(g.grant.Accounts) == 0 && len(g.accounts) > 1:
		return i18n.T(ctx, "There are several accounts, and this grant says none. Calls fail until you choose one.")
	default:
		return ""
	}
}

// accountsText names the accounts of a grant; empty: it binds none.
func accountsText(ctx context.Context, names []string) string {
	if len(names) > 1 {
		return i18n.T(ctx, "Accounts %s", strings.Join(names, ", "))
	}
	if len(names) == 0 {
		return ""
	}
	return i18n.T(ctx, "Account %s", names[0])
}

// readAccount adds the form's accounts to a grant. A form without the field changes nothing.
func (g grantState) readAccount(f shell.PostedForm, grant *connectors.Grant) error {
	if !f.Values.Has("account") {
		return nil
	}
	grant.Accounts = slices.DeleteFunc(slices.Clone(f.Values["account"]), func(name string) bool { return name == "" })
	if len(grant.Accounts) == 0 && len(g.accounts) > 1 {
		return fault.InvalidFields(fault.Field{Location: "account", Message: "Choose an account."})
	}
	return nil
}

// findReach returns a connector with the first of its accounts, which have the same tools; nil: it is not granted, or disabled.
func findReach(view *agentview.View, id connectors.ConnectorID) *agentview.ConnectorView {
	i := slices.IndexFunc(view.Connectors, func(connector *agentview.ConnectorView) bool { return connector.Connector.ID == id })
	if i < 0 {
		return nil
	}
	return view.Connectors[i]
}

// countConnectorTokens estimates the size of a connector's tools in requests, with each account.
func countConnectorTokens(view *agentview.View, id connectors.ConnectorID) (tokens int) {
	for _, connector := range view.Connectors {
		if connector.Connector.ID == id {
			tokens += connector.Size(toolfmt.OpenAI).Tokens
		}
	}
	return tokens
}
