package api

import (
	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// connectorPatch changes a connector. An absent field keeps its value; headers and env are replaced as a whole.
type connectorPatch struct {
	ConnectorFields
	DocumentInput
}

// ConnectorFields are the fields of a connector of any kind.
type ConnectorFields struct {
	Name           *string           `json:"name,omitempty"`
	Slug           *string           `json:"slug,omitempty" doc:"Default for a new connector: from its name."`
	Description    *string           `json:"description,omitempty"`
	Transport      *string           `json:"transport,omitempty" enum:"streamable_http,sse,http,stdio"`
	URL            *string           `json:"url,omitempty" doc:"For all transports except stdio."`
	ServerURL      *string           `json:"server_url,omitempty" doc:"Of an HTTP API: base URL of its calls, if it isn't on the document's origin. With values for the server's variables, it replaces their defaults. Credentials are sent to this origin only. Default for a new connector: the document's first server."`
	Command        *string           `json:"command,omitempty" doc:"For stdio: absolute path of a program that the operator allows."`
	Args           []string          `json:"args,omitempty" nullable:"false" doc:"For stdio."`
	CWD            *string           `json:"cwd,omitempty" doc:"For stdio: the working directory, if the operator allows it. Empty: /."`
	Env            envInput          `json:"env,omitempty" writeOnly:"true" doc:"For stdio: variables besides PATH, HOME and LANG. Values are secret; changing the command, arguments or directory deletes them."`
	Headers        map[string]string `json:"headers,omitempty" doc:"Sent with each request. Visible to all readers: put secrets in auth."`
	CredentialMode *string           `json:"credential_mode,omitempty" enum:"shared,per_agent"`
	Auth           *authInput        `json:"auth,omitempty"`
	Tags           *[]string         `json:"tags,omitempty" maxItems:"20" nullable:"false" doc:"Words by which people group connectors; agents don't see them. Replaced as a whole. Each has 1-32 letters, digits, hyphens or underscores, and is stored in lower case."`
	SecretLater    bool              `json:"secret_later,omitempty" doc:"true: add the auth secrets later, on the connector's Credentials page or with PUT …/credential."`
	Confirm        bool              `json:"confirm,omitempty" doc:"true: move the connector to another origin even if that deletes credentials. Otherwise 409 with code confirmation_required; errors lists what would be deleted."`
	connectors.SettingsPatch
}

// connectorCreate is a new connector.
type connectorCreate struct {
	ConnectorFields
	HTTPInput
}

// TransformSchema implements huma.SchemaTransformer.
func (connectorCreate) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{"name"} // and url, or command
	return s
}

func (p ConnectorFields) apply(d *connectors.Draft) {
	setIfPresent(&d.Name, p.Name)
	setIfPresent(&d.Slug, p.Slug)
	setIfPresent(&d.Description, p.Description)
	setWordIfPresent(&d.Transport, p.Transport)
	setIfPresent(&d.URL, p.URL)
	setIfPresent(&d.ServerURL, p.ServerURL)
	setIfPresent(&d.Command.Path, p.Command)
	setIfPresent(&d.Command.Dir, p.CWD)
	if p.Args != nil {
		d.Command.Args = p.Args
	}
	if p.Env != nil {
		d.Env = connectors.Environment(p.Env)
	}
	setWordIfPresent(&d.CredentialMode, p.CredentialMode)
	if p.Headers != nil {
		d.Headers = p.Headers
	}
	if p.Tags != nil {
		d.Tags = append([]string{}, *p.Tags...)
	}
	p.SettingsPatch.Apply(&d.Settings)
	if p.Auth != nil {
		p.Auth.apply(d)
	}
}

// envInput is the environment of a program.
type envInput map[string]secret.Text

// setIfPresent sets a field if there is a new value.
func setIfPresent[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// setWordIfPresent is setIfPresent for an enum.
func setWordIfPresent[T ~string](field *T, value *string) {
	if value != nil {
		*field = T(*value)
	}
}
