package agents

import (
	"context"
	"slices"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
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

// choosesAccount reports whether the form asks for the account: there are several, or the grant binds one that is gone.
func (g grantState) choosesAccount() bool { return len(g.accounts) > 1 || g.isAccountGone() }

func (g grantState) isAccountGone() bool {
	return g.grant.Account() != "" && !slices.Contains(g.accounts, g.grant.Account())
}

// boundAccount is the grant's account if it exists.
func (g grantState) boundAccount() string {
	if g.isAccountGone() {
		return ""
	}
	return g.grant.Account()
}

// accountOptions offers the accounts, and none by default; nil: the form does not ask.
func (g grantState) accountOptions(ctx context.Context) []templates.Option {
	if !g.choosesAccount() {
		return nil
	}
	options := []templates.Option{{Label: i18n.T(ctx, "Choose an account")}}
	for _, name := range g.accounts {
		options = append(options, templates.Option{Value: name, Label: name})
	}
	return options
}

// missingAccount says that the grant's account is gone, or that it has none of several; empty: neither.
func (g grantState) missingAccount(ctx context.Context) string {
	switch {
	case g.isAccountGone():
		return i18n.T(ctx, "This grant uses the account “%s”, which doesn't exist any more. Calls fail until you choose another one, or connect one of that name.", g.grant.Account())
	case g.exists && g.grant.Account() == "" && len(g.accounts) > 1:
		return i18n.T(ctx, "There are several accounts, and this grant says none. Calls fail until you choose one.")
	default:
		return ""
	}
}

// readAccount adds the form's account to a grant. A form without the field changes nothing.
func (g grantState) readAccount(f shell.PostedForm, grant *connectors.Grant) error {
	if !f.Values.Has("account") {
		return nil
	}
	name := f.Text("account")
	switch {
	case name == "" && len(g.accounts) > 1:
		return fault.InvalidFields(fault.Field{Location: "account", Message: "Choose an account."})
	case name == "":
		grant.Accounts = []string{}
	default:
		grant.Accounts = []string{name}
	}
	return nil
}
