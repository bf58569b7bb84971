package templates

import "patchbay/internal/connectors"

// ConnectorCredentialsPage shows who can use a connector, never with what secret.
type ConnectorCredentialsPage struct {
	Frame  Frame
	Head   ConnectorHead
	Auth   connectors.AuthType
	Mode   connectors.CredentialMode
	About  string          // how this server is signed in to, in a sentence
	Rows   []CredentialRow // one for shared; one per agent else; none where Auth is none
	Agents bool            // the tenant has agents
	Pager  Pager
}

// CredentialRow is one credential, or the place for one. Its form sends the secret fields (token; key; username and
// password) to Action, and the delete button posts to Action + "/delete".
type CredentialRow struct {
	Key      string // unique on the page: "shared" or the agent's slug
	Who      string // "All agents", or the agent's name
	Href     string // the agent's page; empty: none
	Stored   bool
	State    State
	Account  string // the user name of basic; empty: not known
	Changed  When
	LastUsed When
	Error    string // one sentence; empty: none
	Action   string // "/connectors/linear/credential"
	Form     Form   // what was wrong with the last attempt
	Open     bool   // show the form at once
}

func (r CredentialRow) secret(name, label string) fieldProps {
	return fieldProps{
		Form: r.Form, In: r.Key, Name: name, Label: label, Secret: true, Autocomplete: "new-password",
		Help: "Stored sealed, and never shown again.",
	}
}
