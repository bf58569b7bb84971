package templates

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
)

// ConnectorCredentialsPage shows who can use a connector, never with what secret.
type ConnectorCredentialsPage struct {
	Frame     Frame
	Head      ConnectorHead
	Auth      connectors.AuthType
	Mode      connectors.CredentialMode
	About     string          // how this server is signed in to, in a sentence
	Rows      []CredentialRow // one for shared; one per agent else; none where Auth is none
	Agents    bool            // the tenant has agents
	Pager     Pager
	Link      *ConnectLink // that was just made; nil: none
	Diagnosis *Diagnosis   // nil: there is no authorization server to look for
}

// CredentialRow is one credential, or the place for one.
//
// Where a secret is entered, its form sends the secret fields (token; key; username and password; client_id and client_secret or
// private_key) to Action, and the delete button posts to Action + "/delete". Where an account is connected, the buttons post to
// Action + "/connect", "/connect-link" and "/disconnect".
type CredentialRow struct {
	Key      string // unique on the page: "shared" or the agent's slug
	Who      string // "All agents", or the agent's name
	Href     string // the agent's page; empty: none
	Member   string // whose agent it is; empty: the organisation's own
	Stored   bool
	State    State
	Account  string // who it is at the server; empty: not known
	Scopes   []string
	Facts    []Fact // times: set, expires, refreshed, used
	Error    string // one sentence; empty: none
	Action   string // "/connectors/linear/credential", or of an account "/connectors/linear"
	ClientID string // the connector's, which stands for a machine that has none of its own; empty: it has none
	Form     Form   // what was wrong with the last attempt
	Open     bool   // show the form at once
}

// ConnectLink is a link that is shown this once.
type ConnectLink struct {
	For  string // the agent's name; empty: all agents
	URL  string
	Ends When
}

func (r CredentialRow) secret(ctx context.Context, name, label string) fieldProps {
	return fieldProps{
		Form: r.Form, In: r.Key, Name: name, Label: label, Secret: true, Autocomplete: "new-password",
		Help: words.T(ctx, "Stored sealed, and never shown again."),
	}
}

func (r CredentialRow) privateKey(ctx context.Context) fieldProps {
	f := r.secret(ctx, "private_key", words.T(ctx, "Private key"))
	f.Rows, f.Mono, f.Autocomplete, f.Placeholder = 4, true, "off", "-----BEGIN PRIVATE KEY-----"
	return f
}

func (r CredentialRow) client(ctx context.Context) fieldProps {
	f := fieldProps{Form: r.Form, In: r.Key, Name: "client_id", Label: words.T(ctx, "Client id"), Mono: true, Later: true, Autocomplete: "off"}
	if r.ClientID != "" {
		f.Optional, f.Placeholder, f.Help = true, r.ClientID, words.T(ctx, "Left empty, it is the connector's.")
	}
	return f
}

// accounts tells that people connect accounts here, and nobody enters a secret.
func (p ConnectorCredentialsPage) accounts() bool { return p.Auth == connectors.AuthOAuth2 }

// pressing tells whether connecting is the one thing to do on this page.
func (p ConnectorCredentialsPage) pressing(r CredentialRow) string {
	if p.Mode == connectors.CredentialShared && r.State.Kind != StateOK && r.State.Kind != StateWarn {
		return "primary"
	}
	return "outline"
}

func (r CredentialRow) connectWord(ctx context.Context) string {
	if r.Stored {
		return words.T(ctx, "Reconnect")
	}
	return words.T(ctx, "Connect")
}

// shownScopes is how many scopes stand in a row; the others open on demand.
const shownScopes = 12
