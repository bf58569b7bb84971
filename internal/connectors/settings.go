package connectors

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Bounds of a connector's settings.
const (
	DefaultTimeout  = 30 * time.Second
	MinTimeout      = time.Second
	MaxTimeout      = 300 * time.Second
	DefaultRetries  = 3
	MaxRetries      = 5
	DefaultInterval = 900 * time.Second

	DefaultRetryBackoff   = 250 * time.Millisecond
	MinRetryBackoff       = 50 * time.Millisecond
	MaxRetryBackoff       = 10 * time.Second
	DefaultConnectTimeout = 10 * time.Second
	MinConnectTimeout     = 100 * time.Millisecond
	MaxConnectTimeout     = 60 * time.Second
	MinResponseBytes      = 64 << 10
	MaxResponseBytes      = 8 << 20 // also the default
	DefaultReconnects     = 5
	MaxReconnects         = 100

	MinInterval = 60 * time.Second

	DefaultDefinitionAge = 900 * time.Second
	MinDefinitionAge     = 60 * time.Second
	MaxDefinitionAge     = 24 * time.Hour
	MaxInterval          = 365 * 24 * time.Hour
)

// Settings are what an admin sets of a connector, without its secrets. A new one needs a column (store), a member of
// SettingsJSON and SettingsPatch, a form field and its rule in Draft.Validate.
type Settings struct {
	Slug           string
	Name           string
	Description    string
	Transport      Transport
	URL            string            // empty for stdio
	ServerURL      string            // of an HTTP API with its document elsewhere; empty: URL
	Command        Command           // for stdio
	Headers        map[string]string // sent with each request; no secrets
	CredentialMode CredentialMode
	Auth           Auth
	OAuth          OAuthSettings // for oauth2, client_credentials and private_key_jwt
	Timeout        time.Duration // of one upstream request
	RetryAttempts  int           // after the first attempt
	RetryBackoff   time.Duration // before the first retry; it doubles with each one, up to 10 s
	ConnectTimeout time.Duration // of one connection, and of its TLS handshake
	ResponseBytes  int           // of one message from the server
	Reconnects     int           // of a broken stream, in a row without an event
	Enabled        bool
	SyncInterval   time.Duration // 0: only by hand
	ToolChanges    ToolChangePolicy
	Listen         ListenPolicy
	DefinitionAge  time.Duration // maximum age of the last success when a destructive tool is called; 0: any
	CallsPerMinute int           // of all agents together; 0: no limit
	// SessionPerAgent gives agents that share a credential sessions of their own, where the server keeps state for one.
	SessionPerAgent bool
	// Methods are the requests and notifications outside MCP that are relayed: names, or prefixes such as acme/*.
	Methods []string
}

// CredentialOrigin returns the only origin that the connector's credentials are sent to; "": its URL is invalid.
func (s Settings) CredentialOrigin() string { return Origin(s.CredentialURL()) }

// CredentialURL returns the address of the server that gets the credentials, not of a document that describes it.
func (s Settings) CredentialURL() string { return cmp.Or(s.ServerURL, s.URL) }

// ChangedFrom returns the sorted names, as in the API, of the settings that differ from old.
func (s Settings) ChangedFrom(old Settings) []string {
	differs := map[string]bool{
		"name": old.Name != s.Name, "slug": old.Slug != s.Slug, "description": old.Description != s.Description,
		"transport": old.Transport != s.Transport, "url": old.URL != s.URL, "server_url": old.ServerURL != s.ServerURL, "command": old.Command.Path != s.Command.Path,
		"args": !slices.Equal(old.Command.Args, s.Command.Args), "cwd": old.Command.Dir != s.Command.Dir, "headers": !maps.Equal(old.Headers, s.Headers),
		"credential_mode": old.CredentialMode != s.CredentialMode, "auth": old.Auth != s.Auth || !old.OAuth.Equal(s.OAuth),
	}
	now, before := reflect.ValueOf(s.JSON()), reflect.ValueOf(old.JSON())
	for field, value := range now.Fields() {
		differs[field.Tag.Get("json")] = !reflect.DeepEqual(value.Interface(), before.FieldByIndex(field.Index).Interface())
	}
	maps.DeleteFunc(differs, func(_ string, d bool) bool { return !d })
	return slices.Sorted(maps.Keys(differs))
}
