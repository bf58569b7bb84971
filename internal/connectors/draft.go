package connectors

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"patchbay/internal/fault"
)

// Draft is a connector as entered, before validation. An empty Slug is derived from Name.
type Draft struct {
	Settings
	Env  Environment // for stdio; nil: the stored one stays
	Tags []string    // for people; nil: the stored ones stay
}

// NewDraft returns a draft with the API's defaults.
func NewDraft() Draft {
	return Draft{
		Settings: Settings{
			Transport:       TransportStreamableHTTP,
			CredentialMode:  CredentialShared,
			Auth:            Auth{Type: AuthNone},
			Timeout:         DefaultTimeout,
			RetryAttempts:   DefaultRetries,
			RetryBackoff:    DefaultRetryBackoff,
			ConnectTimeout:  DefaultConnectTimeout,
			ResponseBytes:   MaxResponseBytes,
			Reconnects:      DefaultReconnects,
			Enabled:         true,
			SyncInterval:    DefaultInterval,
			ToolChanges:     ToolChangesHoldRisky,
			Listen:          ListenAuto,
			DefinitionAge:   DefaultDefinitionAge,
			SessionPerAgent: true,
		},
	}
}

// DraftOf returns a draft with the settings of c, to be changed.
func DraftOf(c Connector) Draft {
	d := Draft{Settings: c.Settings}
	d.Headers = maps.Clone(c.Headers)
	d.Methods = slices.Clone(c.Methods)
	return d
}

// Connector returns an unstored connector, for a test before saving.
func (d Draft) Connector() Connector {
	return Connector{Settings: d.Settings, EnvNames: d.Env.Names(), Status: StatusNeverSynced, AuthBehaviour: AuthUnknown}
}

// Normalized sets defaults, trims white space and writes internationalised hosts in xn-- form.
func (d Draft) Normalized() Draft {
	d.Name = strings.TrimSpace(d.Name)
	d.Description = strings.TrimSpace(d.Description)
	d.URL, _ = ASCIIURL(strings.TrimSpace(d.URL))
	d.Command = d.Command.withCleanPaths()
	d.Slug = strings.TrimSpace(d.Slug)
	if d.Slug == "" {
		d.Slug = ConnectorSlug(d.Name, "connector")
	}
	d.ServerURL, _ = ASCIIURL(strings.TrimSpace(d.ServerURL))
	d.Auth.Header = strings.TrimSpace(d.Auth.Header)
	if d.Auth.Type == AuthAPIKey && d.Auth.Header == "" && d.Auth.In == KeyInHeader {
		d.Auth.Header = DefaultAPIKeyHeader
	}
	d.OAuth = d.OAuth.normalized()
	d.Methods = sortedSet(d.Methods)
	if d.Tags != nil {
		d.Tags = append([]string{}, sortedSet(normalizeTags(d.Tags))...)
	}
	return d
}

// Validate returns the invalid fields of a normalized draft. The locations are JSON paths: "url", "auth.type",
// "headers.X-Team".
func (d Draft) Validate() []fault.Field {
	var c validation
	c.name(d.Name)
	c.slug(d.Slug)
	if d.Slug == adminSlug {
		c.addField("slug", "Patchbay itself uses /mcp/%s. Choose another slug.", d.Slug)
	}
	c.checkDescription(d.Description)
	checkOneOf(&c, "transport", d.Transport, TransportStreamableHTTP, TransportSSE, TransportHTTP, TransportStdio, TransportAPI)
	if d.Transport != TransportStdio {
		c.checkURL(d.URL)
	}
	c.checkStdio(d)
	c.checkServerURL(d)
	c.checkAuth(d.Auth, d.Transport)
	c.checkOAuth(d)
	c.headers(d.Headers, d.Auth)
	checkOneOf(&c, "credential_mode", d.CredentialMode, CredentialShared, CredentialPerAgent)
	checkOneOf(&c, "tool_changes", d.ToolChanges, ToolChangesAuto, ToolChangesHoldRisky, ToolChangesHoldAll)
	checkOneOf(&c, "listen", d.Listen, ListenAuto, ListenOff)
	c.checkMethods(d.Methods)
	c.tags(d.Tags)
	c.checkNumbers(d)
	return c.fields
}

// ValidateSecret returns the invalid fields of a secret for a normalized draft. needed: no stored secret would
// remain if it is empty.
func (d Draft) ValidateSecret(s Secret, needed bool) []fault.Field {
	switch {
	case d.Auth.Type == AuthOAuth2:
		return slices.DeleteFunc(s.Validate(AuthOAuth2, "auth."), func(f fault.Field) bool {
			return f.Location == "auth.client_secret" && s.ClientSecret.Empty() // not needed: an account is connected by OAuth
		})
	case d.CredentialMode == CredentialPerAgent:
		return s.refuseAll("auth.", "With per_agent, set the secret on each agent.")
	case s.Empty() && (!needed || d.Auth.Type == AuthNone):
		return nil
	default:
		return s.Validate(d.Auth.Type, "auth.")
	}
}

// checkServerURL checks the address of an API. Others have none.
func (c *validation) checkServerURL(d Draft) {
	if d.ServerURL != "" && d.Transport != TransportAPI {
		c.addField("server_url", "Only HTTP APIs have an API URL.")
		return
	}
	c.checkAddress("server_url", d.ServerURL)
}

func (c *validation) checkAuth(a Auth, transport Transport) {
	if a.Type != AuthAPIKey && a.In != KeyInHeader {
		c.addField("auth.in", "“in” applies to API keys only, not to %q.", a.Type)
	}
	switch a.Type {
	case AuthNone, AuthBearer, AuthBasic, AuthOAuth2, AuthClientCredentials, AuthPrivateKeyJWT:
		if a.Header != "" {
			c.addField("auth.header", "Authentication %q takes no header.", a.Type)
		}
	case AuthAPIKey:
		c.checkKeyPlace(a, transport)
	default:
		checkOneOf(c, "auth.type", a.Type, AuthNone, AuthBearer, AuthAPIKey, AuthBasic, AuthOAuth2, AuthClientCredentials, AuthPrivateKeyJWT)
	}
}

// FormatBound formats the bound of a duration as people say it: "5 minutes".
func FormatBound(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}, {time.Millisecond, "millisecond"}} {
		switch {
		case d == u.unit:
			return "1 " + u.name
		case d%u.unit == 0:
			return fmt.Sprintf("%d %ss", d/u.unit, u.name)
		}
	}
	return d.String()
}

func (c *validation) checkNumbers(d Draft) {
	if d.Timeout < MinTimeout || d.Timeout > MaxTimeout {
		c.addField("timeout_ms", "Must be %s to %s.", FormatBound(MinTimeout), FormatBound(MaxTimeout))
	}
	if d.RetryAttempts < 0 || d.RetryAttempts > MaxRetries {
		c.addField("retry_attempts", "Must be 0–%d retries.", MaxRetries)
	}
	if d.RetryBackoff < MinRetryBackoff || d.RetryBackoff > MaxRetryBackoff {
		c.addField("retry_backoff_ms", "Must be %s to %s.", FormatBound(MinRetryBackoff), FormatBound(MaxRetryBackoff))
	}
	if d.ConnectTimeout < MinConnectTimeout || d.ConnectTimeout > MaxConnectTimeout {
		c.addField("connect_timeout_ms", "Must be %s to %s.", FormatBound(MinConnectTimeout), FormatBound(MaxConnectTimeout))
	}
	if d.ResponseBytes < MinResponseBytes || d.ResponseBytes > MaxResponseBytes {
		c.addField("max_response_bytes", "Must be %d–%d bytes.", MinResponseBytes, MaxResponseBytes)
	}
	if d.Reconnects < 0 || d.Reconnects > MaxReconnects {
		c.addField("stream_reconnects", "Must be 0–%d reconnects.", MaxReconnects)
	}
	c.checkInterval("sync_interval_s", d.SyncInterval)
	c.checkDefinitionAge("max_definition_age_s", d.DefinitionAge)
	c.checkCallsPerMinute(d.CallsPerMinute)
}

func (c *validation) checkInterval(location string, d time.Duration) {
	if d != 0 && (d < MinInterval || d > MaxInterval) {
		c.addField(location, "Must be 0 (never), or %s to %s.", FormatBound(MinInterval), FormatBound(MaxInterval))
	}
}

func (c *validation) checkDefinitionAge(location string, d time.Duration) {
	if d != 0 && (d < MinDefinitionAge || d > MaxDefinitionAge) {
		c.addField(location, "Must be 0 (any), or %s to %s.", FormatBound(MinDefinitionAge), FormatBound(MaxDefinitionAge))
	}
}

func (c *validation) checkCallsPerMinute(n int) {
	if n < 0 || n > MaxCallsPerMinute {
		c.addField("calls_per_minute", "Must be 0–%d per minute (0: no limit).", MaxCallsPerMinute)
	}
}
