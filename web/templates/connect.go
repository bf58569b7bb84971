package templates

import (
	"context"

	"patchbay/internal/words"
)

// LeavingPage sends a browser on to another site. Whoever answers with it also sends the header Refresh.
type LeavingPage struct {
	Frame   Frame
	Host    string // "accounts.example.com"
	URL     string
	Back    string // where to go instead
	SignsIn bool   // to Patchbay itself, at the provider of an organisation
}

// InvitationPage asks the owner of an account to connect it. Its button posts to Action.
type InvitationPage struct {
	Frame     Frame
	Tenant    string
	Connector string
	Host      string // of the connector's URL
	Agent     string // empty: all agents
	MadeBy    string
	Server    string // host of the authorization server; empty: not known
	TokenHost string // where the access is fetched, if that is another host than the server's own; else empty
	Scopes    []string
	Ends      When
	Problem   string // why the last try went nowhere; empty: nothing did
	Action    string
}

// SaidPage says what became of a connection, to whoever comes back from another site.
type SaidPage struct {
	Frame Frame
	Title string
	Text  string
	Links []Link
}

func (p InvitationPage) button(ctx context.Context) string {
	if p.Server == "" {
		return words.T(ctx, "Continue")
	}
	return words.T(ctx, "Continue to %s", p.Server)
}
