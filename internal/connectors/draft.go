package connectors

import (
	"maps"
	"slices"
	"strings"
	"time"

	"patchbay/internal/fault"
)

// Draft is a connector as a person or a program describes it, before it is checked.
type Draft struct {
	Name           string
	Slug           string // empty: made from Name
	Description    string
	Transport      Transport
	URL            string
	Command        Command     // for stdio
	Env            Environment // for stdio; nil: what is stored stays
	Headers        map[string]string
	CredentialMode CredentialMode
	Auth           Auth
	OAuth          OAuthSettings
	Timeout        time.Duration
	RetryAttempts  int
	Enabled        bool
	SyncInterval   time.Duration
	ToolChanges    ToolChangePolicy
	Listen         ListenPolicy
	DefinitionAge  time.Duration // 0: any age
	CallsPerMinute int           // of all agents together; 0: not bounded
}

// NewDraft returns a draft with the defaults of the public contract.
func NewDraft() Draft {
	return Draft{
		Transport:      TransportStreamableHTTP,
		CredentialMode: CredentialShared,
		Auth:           Auth{Type: AuthNone},
		Timeout:        DefaultTimeout,
		RetryAttempts:  DefaultRetries,
		Enabled:        true,
		SyncInterval:   DefaultInterval,
		ToolChanges:    ToolChangesHoldRisky,
		Listen:         ListenAuto,
		DefinitionAge:  DefaultDefinitionAge,
	}
}

// DraftOf returns the draft that describes c as it is, as the start of a change.
func DraftOf(c Connector) Draft {
	return Draft{
		Name: c.Name, Slug: c.Slug, Description: c.Description,
		Transport: c.Transport, URL: c.URL, Command: c.Command, Headers: maps.Clone(c.Headers),
		CredentialMode: c.CredentialMode, Auth: c.Auth, OAuth: c.OAuth,
		Timeout: c.Timeout, RetryAttempts: c.RetryAttempts,
		Enabled: c.Enabled, SyncInterval: c.SyncInterval, ToolChanges: c.ToolChanges, Listen: c.Listen, DefinitionAge: c.DefinitionAge, CallsPerMinute: c.CallsPerMinute,
	}
}

// Connector returns a connector of the draft that is stored nowhere: what a test before saving talks to.
func (d Draft) Connector() Connector {
	return Connector{
		Name: d.Name, Slug: d.Slug, Description: d.Description,
		Transport: d.Transport, URL: d.URL, Command: d.Command, EnvNames: d.Env.Names(), Headers: d.Headers,
		CredentialMode: d.CredentialMode, Auth: d.Auth, OAuth: d.OAuth,
		Timeout: d.Timeout, RetryAttempts: d.RetryAttempts,
		Enabled: d.Enabled, SyncInterval: d.SyncInterval, ToolChanges: d.ToolChanges, Listen: d.Listen, DefinitionAge: d.DefinitionAge, CallsPerMinute: d.CallsPerMinute,
		Status: StatusNeverSynced, AuthBehaviour: AuthUnknown,
	}
}

// Normalized fills in what may be left out, and drops white space around what is typed.
func (d Draft) Normalized() Draft {
	d.Name = strings.TrimSpace(d.Name)
	d.Description = strings.TrimSpace(d.Description)
	d.URL, _ = asciiURL(strings.TrimSpace(d.URL))
	d.Command = d.Command.normalized()
	d.Slug = strings.TrimSpace(d.Slug)
	if d.Slug == "" {
		d.Slug = ConnectorSlug(d.Name, "connector")
	}
	d.Auth.Header = strings.TrimSpace(d.Auth.Header)
	if d.Auth.Type == AuthAPIKey && d.Auth.Header == "" {
		d.Auth.Header = DefaultAPIKeyHeader
	}
	d.OAuth = d.OAuth.normalized()
	return d
}

// Validate tells what is wrong with a normalized draft; nothing where it is right. The locations are the paths of the JSON
// document: "url", "auth.type", "headers.X-Team".
func (d Draft) Validate() []fault.Field {
	var c check
	c.name(d.Name)
	c.slug(d.Slug)
	if d.Slug == adminAddress {
		c.refuse("slug", "At /mcp/%s Patchbay itself is found. Choose another slug.", d.Slug)
	}
	c.description(d.Description)
	oneOf(&c, "transport", d.Transport, TransportStreamableHTTP, TransportSSE, TransportHTTP, TransportStdio)
	if d.Transport != TransportStdio {
		c.url(d.URL)
	}
	c.stdio(d)
	c.auth(d.Auth)
	c.oauth(d)
	c.headers(d.Headers, d.Auth)
	oneOf(&c, "credential_mode", d.CredentialMode, CredentialShared, CredentialPerAgent)
	oneOf(&c, "tool_changes", d.ToolChanges, ToolChangesAuto, ToolChangesHoldRisky, ToolChangesHoldAll)
	oneOf(&c, "listen", d.Listen, ListenAuto, ListenOff)
	c.numbers(d)
	return c.fields
}

// ValidateSecret tells what is wrong with the secret that comes with a normalized draft. needed: there is no stored one that
// an empty secret would leave in place.
func (d Draft) ValidateSecret(s Secret, needed bool) []fault.Field {
	switch {
	case d.Auth.Type == AuthOAuth2:
		return slices.DeleteFunc(s.Validate(AuthOAuth2, "auth."), func(f fault.Field) bool {
			return f.Location == "auth.client_secret" && s.ClientSecret.Empty() // nothing need be entered: an account is connected
		})
	case d.CredentialMode == CredentialPerAgent:
		return s.refused("auth.", "With per_agent credentials each agent's secret is set for the agent, not here.")
	case s.Empty() && (!needed || d.Auth.Type == AuthNone):
		return nil
	default:
		return s.Validate(d.Auth.Type, "auth.")
	}
}

func (c *check) auth(a Auth) {
	switch a.Type {
	case AuthNone, AuthBearer, AuthBasic, AuthOAuth2, AuthClientCredentials, AuthPrivateKeyJWT:
		if a.Header != "" {
			c.refuse("auth.header", "Authentication %q takes no header.", a.Type)
		}
	case AuthAPIKey:
		c.authHeader(a.Header)
	default:
		oneOf(c, "auth.type", a.Type, AuthNone, AuthBearer, AuthAPIKey, AuthBasic, AuthOAuth2, AuthClientCredentials, AuthPrivateKeyJWT)
	}
}

func (c *check) numbers(d Draft) {
	if d.Timeout < MinTimeout || d.Timeout > MaxTimeout {
		c.refuse("timeout_ms", "A timeout is %d to %d milliseconds.", MinTimeout.Milliseconds(), MaxTimeout.Milliseconds())
	}
	if d.RetryAttempts < 0 || d.RetryAttempts > MaxRetries {
		c.refuse("retry_attempts", "There are 0 to %d retries.", MaxRetries)
	}
	c.interval("sync_interval_s", d.SyncInterval)
	c.definitionAge("max_definition_age_s", d.DefinitionAge)
	c.callsPerMinute(d.CallsPerMinute)
}

func (c *check) interval(location string, d time.Duration) {
	if d != 0 && (d < MinInterval || d > MaxInterval) {
		c.refuse(location, "An interval is 0 for never, or %.0f to %.0f seconds.", MinInterval.Seconds(), MaxInterval.Seconds())
	}
}

func (c *check) definitionAge(location string, d time.Duration) {
	if d != 0 && (d < MinDefinitionAge || d > MaxDefinitionAge) {
		c.refuse(location, "An age is 0 for any, or %.0f to %.0f seconds.", MinDefinitionAge.Seconds(), MaxDefinitionAge.Seconds())
	}
}

func (c *check) callsPerMinute(n int) {
	if n < 0 || n > MaxCallsPerMinute {
		c.refuse("calls_per_minute", "Calls are limited to 1 to %d a minute; 0 is no limit.", MaxCallsPerMinute)
	}
}
