package templates

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// ConnectorCredentialsPage shows a connector's credentials, without secrets.
type ConnectorCredentialsPage struct {
	Frame     Frame
	Head      ConnectorHead
	Auth      connectors.AuthType
	Mode      connectors.CredentialMode
	About     string          // how Patchbay authenticates to the server, as a sentence
	Filter    Form            // q, status
	Filtered  bool            // the rows are not all
	States    []Option        // of the filter
	Count     string          // "12 agents"
	Rows      []CredentialRow // one if shared, else one per agent; none without authentication
	Missing   *MissingNotice  // nil: no credential is missing, or the person may set none
	Pager     Pager
	Link      *ConnectLink // a new link; nil: none
	Diagnosis *Diagnosis   // nil: there is no authorization server to discover
}

// CredentialRow is one stored or missing credential.
//
// For a secret, its form sends the secret fields (token; key; username and password; client_id and
// client_secret or private_key) to Action, and the delete button posts to Action + "/delete". For an account,
// the buttons post to Action + "/connect", "/connect-link" and "/disconnect". Each sends account. With add, account is the name of
// another account of the owner, and former that of the only one so far. Account + "/rename" and "/syncs" change an account.
type CredentialRow struct {
	Key      string // unique on the page: the owner, and the name of a named account
	Owner    string // "shared" or the agent's slug
	Name     string // of the account, among those of its owner
	First    bool   // it is the first one of its owner
	Last     bool   // it is the last one of its owner
	Own      bool   // it is on the page of its own agent's member
	Syncs    bool   // syncs use it, which is worth saying
	Who      string // "All agents", or the agent's name
	Href     string // the agent's page; empty: none
	Member   string // the agent's owner; empty: the organisation
	Stored   bool
	State    State
	Account  string // the account's name at the server; empty: not known
	Known    bool   // another account is refused unless it is to replace this one
	Scopes   []string
	Facts    []Fact // times: set, expires, refreshed, used
	Error    string // one sentence; empty: none
	Said     Quote  // what the server said then
	Action   string // "/connectors/linear/credential", or of an account "/connectors/linear"
	ClientID string // the connector's, used by a machine without its own; empty: none
	Form     Form   // with the errors of the last attempt
	Open     bool   // the form is open
	Rename   Form   // name
	Renames  bool   // the form is open
	Another  Form   // account and former, to add another account of the owner
	Adds     bool   // the form is open

	ChoosesSyncs bool // syncs may use it from now on

	WorkloadTokens []string // names of tokens that the operator offers in place of a client secret; nil: none
}

// MissingNotice says that agents have no credential.
type MissingNotice struct {
	Title string // "12 agents have no credential"
	Path  string // the page that lists them
	URL   string // its absolute address
}

// MissingCredentialsPage lists the agents without a credential at a connector.
type MissingCredentialsPage struct {
	Frame Frame
	Head  ConnectorHead
	Count string
	Rows  []MissingCredentialRow
	Pager Pager
}

// MissingCredentialRow is an agent without a credential. At most one of Action, Page and Member is set; none: the person
// may only read.
type MissingCredentialRow struct {
	Agent  string // its name
	Href   string
	Action string // the form's address that connects an account
	Page   string // where the credential is set
	Member string // the owner: no other person connects the account
}

// ConnectLink is a link, shown once.
type ConnectLink struct {
	For     string // the agent's name; empty: all agents
	Account string // its name; empty: the owner's only one
	URL     string
	Ends    When
}

func (r CredentialRow) secretField(ctx context.Context, name, label string) fieldProps {
	return fieldProps{
		Form: r.Form, In: r.Key, Name: name, Label: label, Secret: true, Autocomplete: "new-password",
		Help: i18n.T(ctx, "Encrypted, never shown again."),
	}
}

func (r CredentialRow) privateKey(ctx context.Context) fieldProps {
	f := r.secretField(ctx, "private_key", i18n.T(ctx, "Private key"))
	f.Rows, f.Mono, f.Autocomplete, f.Placeholder = 4, true, "off", "-----BEGIN PRIVATE KEY-----"
	return f
}

func (r CredentialRow) clientSecret(ctx context.Context) fieldProps {
	f := r.secretField(ctx, "client_secret", i18n.T(ctx, "Client secret"))
	f.Optional = len(r.WorkloadTokens) > 0
	return f
}

// workloadField chooses a token in place of a client secret.
func (r CredentialRow) workloadField(ctx context.Context) fieldProps {
	f := fieldProps{
		Form: r.Form, In: r.Key, Name: "workload_token", Label: i18n.T(ctx, "Workload token"), Optional: true,
		Options: []Option{{"", i18n.T(ctx, "None")}}, Help: i18n.T(ctx, "In place of a client secret. The operator offers it for this server."),
	}
	for _, name := range r.WorkloadTokens {
		f.Options = append(f.Options, Option{name, name})
	}
	return f
}

func (r CredentialRow) clientField(ctx context.Context) fieldProps {
	f := fieldProps{Form: r.Form, In: r.Key, Name: "client_id", Label: i18n.T(ctx, "Client ID"), Mono: true, Later: true, Autocomplete: "off"}
	if r.ClientID != "" {
		f.Optional, f.Placeholder, f.Help = true, r.ClientID, i18n.T(ctx, "Empty: the connector's.")
	}
	return f
}

// usesAccounts reports whether accounts are connected here instead of secrets entered.
func (p ConnectorCredentialsPage) usesAccounts() bool { return p.Auth == connectors.AuthOAuth2 }

// buttonVariant is filled if connecting is the page's main action.
func (p ConnectorCredentialsPage) buttonVariant(r CredentialRow) string {
	if p.Mode == connectors.CredentialShared && r.State.Kind != StateOK && r.State.Kind != StateWarn {
		return "primary"
	}
	return "outline"
}

// isNamed reports whether the account has a name that is worth showing.
func (r CredentialRow) isNamed() bool {
	return connectors.GivenName(r.Name) != ""
}

// ownerAnchor lets addresses of the owner's account lead to the first one, whatever its name.
func (r CredentialRow) ownerAnchor() templ.Attributes {
	if r.First && r.Owner != r.Key {
		return templ.Attributes{"id": "credential-" + r.Owner}
	}
	return nil
}

// subjectText names the account after its owner, for buttons.
func (r CredentialRow) subjectText() string {
	if r.isNamed() {
		return r.Who + " · " + r.Name
	}
	return r.Who
}

// accountFields are sent with each form of a named account.
func (r CredentialRow) accountFields(more ...HiddenField) []HiddenField {
	if r.isNamed() {
		more = append(more, HiddenField{Name: "account", Value: r.Name})
	}
	return more
}

// changePath is the address of the forms that change an account.
func (r CredentialRow) changePath() string {
	return strings.TrimSuffix(r.Action, "/credential") + "/account"
}

// renameForm has the name so far, unless a refused one is shown again.
func (r CredentialRow) renameForm() Form {
	if r.Renames {
		return r.Rename
	}
	return Form{Values: map[string]string{"name": r.Name}}
}

// addPath is the address of the form that adds an account.
func (r CredentialRow) addPath(auth connectors.AuthType) string {
	if auth == connectors.AuthOAuth2 {
		return r.Action + "/connect"
	}
	return r.Action
}

// addedRow is the row for the secret's fields of another account.
func (r CredentialRow) addedRow() CredentialRow {
	r.Form, r.Key = r.Another, r.Key+".another"
	return r
}

func (r CredentialRow) connectWord(ctx context.Context) string {
	if r.Stored {
		return i18n.T(ctx, "Reconnect")
	}
	return i18n.T(ctx, "Connect")
}

// maxShownScopes is the number of scopes in a row. The rest opens on demand.
const maxShownScopes = 12
