package templates

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// OwnAccountsPage lists the accounts of a member's own agents.
type OwnAccountsPage struct {
	Frame  Frame
	Agents []OwnAgent
	Limit  string // that more exist than are shown; empty: none do
}

// OwnAgent is an agent with its connected and missing accounts.
type OwnAgent struct {
	Name string
	Href string
	Off  bool // disabled
	Rows []OwnAccount
}

// OwnAccount is an agent's account at a connector, connected or missing. Its buttons post to Path + "/connect"
// and "/disconnect". A secret is entered on its page, at Path, which posts the fields to Path + "/credential".
type OwnAccount struct {
	Looks     bool   // the person may disconnect, but not connect
	Key       string // unique on the page
	Name      string // of the account, among those of the agent
	Connector string
	Mark      Mark   // of the connector
	Host      string // of the server
	Agent     string
	Auth      connectors.AuthType
	Stored    bool
	Works     bool
	State     State
	Account   string // its name at the server; empty: not known
	Known     bool   // another account is refused unless it is to replace this one
	Since     *When  // nil: not connected
	Error     string // why it no longer works
	Said      Quote  // what the server said then
	Path      string
}

// OwnAccountPage is the page of one account. Programs link to it when it is missing.
type OwnAccountPage struct {
	Frame   Frame
	Tenant  string
	Person  string // e-mail address of the signed-in person
	Problem string // why the last attempt failed
	Row     OwnAccount
	Form    Form // of the secret
	Rename  Form // name
	Renames bool // the form is open
	Another Form // account and former
	Adds    bool // the form is open
}

// usesOAuth reports whether the person signs in at the server instead of entering a secret.
func (a OwnAccount) usesOAuth() bool { return a.Auth == connectors.AuthOAuth2 }

// buttonVariant is filled if the account is missing or dead.
func (a OwnAccount) buttonVariant() string {
	if a.Works {
		return "outline"
	}
	return "primary"
}

func (a OwnAccount) buttonText(ctx context.Context) string {
	switch {
	case a.usesOAuth() && a.Stored:
		return i18n.T(ctx, "Reconnect")
	case a.usesOAuth():
		return i18n.T(ctx, "Connect")
	case a.Stored:
		return i18n.T(ctx, "Replace")
	default:
		return i18n.T(ctx, "Enter")
	}
}

// secretRow is the row for the secret's fields.
func (p OwnAccountPage) secretRow() CredentialRow {
	row := p.Row.credentialRow()
	row.Form, row.Rename, row.Renames, row.Another, row.Adds = p.Form, p.Rename, p.Renames, p.Another, p.Adds
	return row
}

// credentialRow is the row for the account's name and its forms.
func (a OwnAccount) credentialRow() CredentialRow {
	row := CredentialRow{Key: a.Key, Name: a.Name, Stored: a.Stored, Last: true, Own: true, Who: a.Connector, Account: a.Account, Action: a.Path}
	if !a.usesOAuth() {
		row.Action += "/credential"
	}
	return row
}

// pageHref is the address of the account's page.
func (a OwnAccount) pageHref() string {
	if a.credentialRow().isNamed() {
		return a.Path + "?account=" + a.Name
	}
	return a.Path
}

func (p OwnAccountPage) pageTitle(ctx context.Context) string {
	if p.Row.Works {
		return i18n.T(ctx, "%s is connected", p.Row.Connector)
	}
	return i18n.T(ctx, "Connect %s", p.Row.Connector)
}

// slug is the agent's slug, from its address.
func (a OwnAgent) slug() string { return strings.TrimPrefix(a.Href, "/agents/") }
