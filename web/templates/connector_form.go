package templates

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// ConnectorFormPage creates a connector. Its form posts to /connectors, and with the test button to
// /connectors/test.
type ConnectorFormPage struct {
	Frame Frame
	Form  Form
	Test  *TestResult // nil: not tested

	Durations map[string]DurationChoice // by field
}

// ConnectorSettingsPage changes, disables or deletes a connector. Its form posts to Head.Href, and with the
// test button to /connectors/test.
type ConnectorSettingsPage struct {
	Frame              Frame
	Head               ConnectorHead
	Form               Form                      // with version, to detect concurrent edits
	Durations          map[string]DurationChoice // by field
	Stored             bool                      // a secret is stored; empty secret fields keep it
	Enabled            bool
	Env                []string // names of the stored environment
	Test               *TestResult
	Drops              []string // what the move to another origin drops, to be confirmed; empty: nothing to confirm
	ListeningSuspended string   // why listening is suspended until a person resumes it; empty: it is not
	Used               []string // dependents, one sentence each
	Goes               []string // what is deleted with it: "22 tools and their history"
}

// TestResult is the result of a connection test.
type TestResult struct {
	Kind        StateKind    // StateWarn: reachable, but something is missing
	Summary     string       // "Linear answered with 23 tools."
	Name        string       // of the server, for a connector without a name
	OffersOAuth bool         // a button chooses OAuth
	SignIn      *SignInOffer // a button chooses it; nil: none
	Action      *Link
	Help        string // in place of the button, without script
	Short       bool   // facts and tools are folded
	Facts       []Fact // server, version, protocol
	Tools       []ToolView
	Quarantined []QuarantinedTool
	Failure     *Failure
	Fields      []FieldProblem // what was wrong in the form; nothing was tested
}

// FieldProblem is what is wrong with one field of a form.
type FieldProblem struct {
	Name    string // of the field: "auth.token"
	Message string
}

// Failure shows why a request to a server failed.
type Failure struct {
	Sentence string // "The server refused the credential (401)."
	Phase    string // in words: "while initializing"
	Facts    []Fact // code, HTTP status, …
	Said     Quote
}

// connectorFields are the form's fields, named as in the JSON API. headers has lines of "Name: value", enabled
// is "true" or absent, times are numbers in the unit of their name, and auth.scopes are separated by spaces.
// auth.no_resource is the form's own: "true" for a resource of "".
var connectorFields = []string{
	"name", "slug", "description", "transport", "url", "command", "args", "cwd", "env", "headers", "credential_mode",
	"auth.type", "auth.token", "auth.key", "auth.header", "auth.in", "server_url", "auth.username", "auth.password",
	"auth.client_id", "auth.client_secret", "auth.private_key", "auth.algorithm", "auth.scopes", "auth.issuer", "auth.token_exchange",
	"auth.authorization_endpoint", "auth.token_endpoint", "auth.resource", "auth.no_resource", "auth.token_endpoint_auth_method",
	"auth.allow_missing_pkce_metadata",
	"timeout_ms", "retry_attempts", "retry_backoff_ms", "connect_timeout_ms", "max_response_bytes", "stream_reconnects",
	"sync_interval_s", "calls_per_minute", "session_per_agent", "listen", "tool_changes", "max_definition_age_s", "methods", "enabled", "version", "id",
}

// connectorFormProps is shared by the forms for a new and a stored connector.
type connectorFormProps struct {
	Frame  Frame
	Form   Form
	Test   *TestResult
	Action string
	Submit string
	Cancel string
	New    bool
	Stored bool
	Env    []string
	Drops  []string

	Durations map[string]DurationChoice
}

func (p connectorFormProps) newField(name, label string, with func(*fieldProps)) fieldProps {
	f := fieldProps{Form: p.Form, Name: name, Label: label}
	with(&f)
	return f
}

// newSecretField is a field that never shows its value again.
func (p connectorFormProps) newSecretField(ctx context.Context, name, label, help string) fieldProps {
	f := fieldProps{Form: p.Form, Name: name, Label: label, Help: help, Secret: true, Later: true, Autocomplete: "new-password"}
	switch {
	case p.Stored:
		f.Placeholder = i18n.T(ctx, "Stored")
		f.Help = i18n.T(ctx, "Leave empty to keep the stored secret.")
	case p.Test != nil:
		f.Help = i18n.T(ctx, "Enter it again; forms don't keep secrets.")
	}
	return f
}

// Transports that share fields, for data-transport.
const httpTransports = string(connectors.TransportStreamableHTTP + " " + connectors.TransportHTTP + " " + connectors.TransportSSE + " " + connectors.TransportAPI)

func (p connectorFormProps) isProgram() bool {
	return p.Form.Is("transport", string(connectors.TransportStdio))
}

// environmentField is a program's environment, which is never shown again.
func (p connectorFormProps) environmentField(ctx context.Context) fieldProps {
	f := fieldProps{Form: p.Form, Name: "env", Label: i18n.T(ctx, "Environment"), Rows: 3, Secret: true, Mono: true, Optional: true, Placeholder: "API_TOKEN=…"}
	f.Help = i18n.T(ctx, "One “NAME=value” per line. Values are encrypted and never shown.")
	if len(p.Env) > 0 {
		f.Help = i18n.T(ctx, "Stored: %s. Leave empty to keep them; new values replace them all. Changing the command, arguments or folder deletes them.", strings.Join(p.Env, ", "))
	}
	return f
}

// advancedOpen reports whether an advanced setting has an error.
func (p connectorFormProps) advancedOpen() bool {
	for _, name := range []string{"slug", "headers", "timeout_ms", "retry_attempts", "retry_backoff_ms", "connect_timeout_ms", "max_response_bytes", "stream_reconnects", "sync_interval_s", "calls_per_minute", "max_definition_age_s", "methods"} {
		if p.Form.Error(name) != "" {
			return true
		}
	}
	return false
}

func modeOptions(ctx context.Context) []Option {
	return []Option{
		{string(connectors.CredentialShared), i18n.T(ctx, "One for all agents")},
		{string(connectors.CredentialPerAgent), i18n.T(ctx, "One per agent")},
	}
}

func toolChangeOptions(ctx context.Context) []Option {
	return []Option{
		{string(connectors.ToolChangesHoldRisky), i18n.T(ctx, "Hold risky ones for review")},
		{string(connectors.ToolChangesHoldAll), i18n.T(ctx, "Hold all for review")},
		{string(connectors.ToolChangesAuto), i18n.T(ctx, "Apply automatically")},
	}
}

func listenOptions(ctx context.Context) []Option {
	return []Option{
		{string(connectors.ListenAuto), i18n.T(ctx, "If the server supports it")},
		{string(connectors.ListenOff), i18n.T(ctx, "Off")},
	}
}

func transportOptions(ctx context.Context) []Option {
	return []Option{
		{string(connectors.TransportStreamableHTTP), "Streamable HTTP"},
		{string(connectors.TransportHTTP), i18n.T(ctx, "JSON replies only")},
		{string(connectors.TransportSSE), i18n.T(ctx, "HTTP+SSE (2024)")},
		{string(connectors.TransportStdio), i18n.T(ctx, "Program on Patchbay's machine (stdio)")},
	}
}
