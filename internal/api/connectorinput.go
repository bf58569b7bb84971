package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// connectorPatch changes a connector. An absent field keeps its value; headers and env are replaced as a whole.
type connectorPatch struct {
	Name              *string           `json:"name,omitempty"`
	Slug              *string           `json:"slug,omitempty" doc:"Made from the name where a new connector has none."`
	Description       *string           `json:"description,omitempty"`
	Transport         *string           `json:"transport,omitempty" enum:"streamable_http,sse,http,stdio"`
	URL               *string           `json:"url,omitempty" doc:"Of every transport but stdio."`
	Command           *string           `json:"command,omitempty" doc:"Of stdio: the absolute path of a program that the operator allows."`
	Args              []string          `json:"args,omitempty" nullable:"false" doc:"Of stdio."`
	CWD               *string           `json:"cwd,omitempty" doc:"Of stdio: the folder in which the program runs, where the operator allows one; empty: /."`
	Env               envInput          `json:"env,omitempty" writeOnly:"true" doc:"Of stdio: what the program gets besides PATH, HOME and LANG. The values are secrets; a change of the command, its arguments or its folder deletes them."`
	Headers           map[string]string `json:"headers,omitempty" doc:"Sent with each request. They are shown to every reader: secrets belong into auth."`
	CredentialMode    *string           `json:"credential_mode,omitempty" enum:"shared,per_agent"`
	Auth              *authInput        `json:"auth,omitempty"`
	SecretLater       bool              `json:"secret_later,omitempty" doc:"true: what auth needs of secrets is entered afterwards, on the connector's Credentials page or with PUT …/credential."`
	TimeoutMS         *int64            `json:"timeout_ms,omitempty" minimum:"1000" maximum:"300000"`
	RetryAttempts     *int              `json:"retry_attempts,omitempty" minimum:"0" maximum:"5"`
	Enabled           *bool             `json:"enabled,omitempty"`
	SyncIntervalS     *int64            `json:"sync_interval_s,omitempty" minimum:"0" maximum:"2147483647" doc:"0: never by itself; else 60 or more."`
	ToolChanges       *string           `json:"tool_changes,omitempty" enum:"auto,hold_risky,hold_all"`
	MaxDefinitionAgeS *int64            `json:"max_definition_age_s,omitempty" minimum:"0" maximum:"86400" doc:"How old the last successful sync may be when a tool that may destroy something is called: an older one is repeated first. 0: any age; else 60 or more."`
	Listen            *string           `json:"listen,omitempty" enum:"auto,off" doc:"auto: where the server tells that its lists have changed, Patchbay listens, and syncs."`
	CallsPerMinute    *int              `json:"calls_per_minute,omitempty" minimum:"0" maximum:"1000000" doc:"Of all agents together; 0: not bounded."`
}

type connectorCreate connectorPatch

// TransformSchema implements huma.SchemaTransformer.
func (connectorCreate) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{"name"} // and url, or command
	return s
}

func (p connectorPatch) apply(d *connectors.Draft) {
	setIfPresent(&d.Name, p.Name)
	setIfPresent(&d.Slug, p.Slug)
	setIfPresent(&d.Description, p.Description)
	setWordIfPresent(&d.Transport, p.Transport)
	setIfPresent(&d.URL, p.URL)
	setIfPresent(&d.Command.Path, p.Command)
	setIfPresent(&d.Command.Dir, p.CWD)
	if p.Args != nil {
		d.Command.Args = p.Args
	}
	if p.Env != nil {
		d.Env = connectors.Environment(p.Env)
	}
	setWordIfPresent(&d.CredentialMode, p.CredentialMode)
	setIfPresent(&d.RetryAttempts, p.RetryAttempts)
	setIfPresent(&d.Enabled, p.Enabled)
	setWordIfPresent(&d.ToolChanges, p.ToolChanges)
	setWordIfPresent(&d.Listen, p.Listen)
	setIfPresent(&d.CallsPerMinute, p.CallsPerMinute)
	if p.Headers != nil {
		d.Headers = p.Headers
	}
	if p.TimeoutMS != nil {
		d.Timeout = time.Duration(*p.TimeoutMS) * time.Millisecond
	}
	if p.MaxDefinitionAgeS != nil {
		d.DefinitionAge = time.Duration(*p.MaxDefinitionAgeS) * time.Second
	}
	if p.SyncIntervalS != nil {
		d.SyncInterval = time.Duration(*p.SyncIntervalS) * time.Second
	}
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
