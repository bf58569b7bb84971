package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// LeavingPage sends a browser to another site. The response also needs the header Refresh.
type LeavingPage struct {
	Frame   Frame
	Host    string // "accounts.example.com"
	URL     string
	Back    string // where to go instead
	SignsIn bool   // it is a sign-in to Patchbay at an organisation's provider
}

// InvitationPage asks the owner of an account to connect it. Its button posts to Action.
type InvitationPage struct {
	Frame     Frame
	Tenant    string
	Connector string
	Host      string // of the connector's URL
	Agent     string // empty: all agents
	Account   string // its name among those of its owner; empty: the only one
	MadeBy    string
	Server    string // host of the authorization server; empty: not known
	TokenHost string // host of the token endpoint if it differs from the server's
	Scopes    []string
	Ends      When
	Problem   string // why the last attempt failed; empty: it did not
	Action    string
}

// SaidPage shows the result of a connection after the return from another site.
type SaidPage struct {
	Frame Frame
	Title string
	Text  string
	Links []Link
}

func (p InvitationPage) buttonText(ctx context.Context) string {
	if p.Server == "" {
		return i18n.T(ctx, "Continue")
	}
	return i18n.T(ctx, "Continue to %s", p.Server)
}
