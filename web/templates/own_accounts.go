package templates

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
)

// OwnAccountsPage is where a member connects the accounts that the agents of their own use.
type OwnAccountsPage struct {
	Frame  Frame
	Agents []OwnAgent
	Limit  string // that there are more than are shown; empty: these are all
}

// OwnAgent is one of them, with the accounts that it has and misses.
type OwnAgent struct {
	Name string
	Href string
	Off  bool // disabled
	Rows []OwnAccount
}

// OwnAccount is an account of an agent at a connector, or the place for one. Its buttons post to Path + "/connect" and "/disconnect"; what is
// entered is entered on its page, at Path, which posts the secret's fields to Path + "/credential".
type OwnAccount struct {
	Looks     bool   // the person may connect nothing, and disconnect
	Key       string // unique on the page
	Connector string
	Host      string // of the server
	Agent     string
	Auth      connectors.AuthType
	Stored    bool
	Works     bool
	State     State
	Account   string // who it is there; empty: not known
	Since     *When  // nil: nothing is stored
	Error     string // why it does not work any more
	Path      string
}

// OwnAccountPage is the page of one account, to which programs lead that miss it.
type OwnAccountPage struct {
	Frame   Frame
	Tenant  string
	Person  string // the e-mail address of who is signed in
	Problem string // why the last try went nowhere
	Row     OwnAccount
	Form    Form // of the secret
}

// oauth tells that the person signs in elsewhere, and enters nothing here.
func (a OwnAccount) oauth() bool { return a.Auth == connectors.AuthOAuth2 }

// variant is how much the row's button asks to be pressed.
func (a OwnAccount) variant() string {
	if a.Works {
		return "outline"
	}
	return "primary"
}

// word is what the row's button does.
func (a OwnAccount) word(ctx context.Context) string {
	switch {
	case a.oauth() && a.Stored:
		return words.T(ctx, "Reconnect")
	case a.oauth():
		return words.T(ctx, "Connect")
	case a.Stored:
		return words.T(ctx, "Replace")
	default:
		return words.T(ctx, "Enter")
	}
}

// secret is the row as the fields of a secret take it.
func (p OwnAccountPage) secret() CredentialRow {
	return CredentialRow{Key: p.Row.Key, Form: p.Form}
}

func (p OwnAccountPage) title(ctx context.Context) string {
	if p.Row.Works {
		return words.T(ctx, "%s is connected", p.Row.Connector)
	}
	return words.T(ctx, "Connect %s", p.Row.Connector)
}

// key is the agent's slug, as its address has it.
func (a OwnAgent) key() string { return strings.TrimPrefix(a.Href, "/agents/") }
