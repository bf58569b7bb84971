package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/connectors"
)

type connectorJSON struct {
	ID             string            `json:"id" format:"uuid"`
	Name           string            `json:"name"`
	Slug           string            `json:"slug" doc:"Accepted instead of the id in every path."`
	Description    string            `json:"description"`
	Kind           string            `json:"kind" enum:"mcp,http" doc:"http: an HTTP API, of which Patchbay makes tools."`
	Transport      string            `json:"transport"`
	URL            string            `json:"url" doc:"Empty for stdio. Of kind http: the document's URL, or the address of the API if the document was uploaded or there is none."`
	ServerURL      string            `json:"server_url,omitempty" doc:"Of an HTTP API: base URL of its calls, if it isn't on the document's origin. Credentials are sent to this origin only."`
	URLUnicode     string            `json:"url_unicode,omitempty" doc:"The URL with a readable internationalized host name. Absent if the host has no xn-- label."`
	Command        string            `json:"command,omitempty" doc:"For stdio."`
	Args           []string          `json:"args,omitempty" nullable:"false" doc:"For stdio."`
	CWD            string            `json:"cwd,omitempty" doc:"For stdio."`
	EnvNames       []string          `json:"env_names,omitempty" nullable:"false" doc:"For stdio: names of the stored variables. Values are never returned."`
	Headers        map[string]string `json:"headers" doc:"Sent with each request. Not secret."`
	CredentialMode string            `json:"credential_mode" enum:"shared,per_agent"`
	Auth           authJSON          `json:"auth"`
	Tags           []string          `json:"tags" nullable:"false" doc:"Words by which people group connectors, in alphabetical order."`
	connectors.SettingsJSON
	Status            string              `json:"status" enum:"never_synced,ok,error,needs_auth,disabled"`
	AuthBehaviour     string              `json:"auth_behaviour" enum:"open,list_open,all_auth,unknown" doc:"What the server requires, as of the last sync."`
	DiscoveredTools   []string            `json:"discovered_tools" nullable:"false" doc:"Sorted names of current tools."`
	ToolCount         int                 `json:"tool_count"`
	ToolsLastSyncedAt *time.Time          `json:"tools_last_synced_at" doc:"Last successful sync."`
	LastError         *connectorErrorJSON `json:"last_error" doc:"Null after a success."`
	Health            healthJSON          `json:"health" doc:"Whether the server answers, accepts the credential, and how old the tools are."`
	Server            serverJSON          `json:"server"`
	Icon              *string             `json:"icon" doc:"The server's icon, as a data URL: PNG, JPEG or WebP, at most 16 KiB. Null if the last handshake had none. Untrusted."`
	Instructions      string              `json:"instructions_review" enum:"accepted,changed,rejected" doc:"Whether agents get the server's current instructions; otherwise the last accepted ones."`
	Listening         *listeningJSON      `json:"listening" doc:"Null if the server does not announce list changes."`
	Vanished          *vanishedJSON       `json:"tools_vanished" doc:"Null if no tools vanished, most returned, or it was acknowledged."`
	Breaker           breakerJSON         `json:"breaker" doc:"Whether agents' calls reach the server."`
	CreatedAt         time.Time           `json:"created_at"`
	UpdatedAt         time.Time           `json:"updated_at"`
	Notices           []string            `json:"notices,omitempty" nullable:"false" doc:"Side effects of a change."`
}

// vanishedJSON are tools that a server lists no more: all, or more than half of those before.
type vanishedJSON struct {
	At    time.Time `json:"at" doc:"When the sync found them missing."`
	Tools int       `json:"tools" doc:"Number of tools still missing."`
	Of    int       `json:"of" doc:"Number of tools before."`
}

// authJSON is a connector's authentication, without secrets.
type authJSON struct {
	Type   string `json:"type" enum:"none,bearer,api_key,basic,oauth2,client_credentials,private_key_jwt"`
	Header string `json:"header,omitempty" doc:"For api_key: the name of the header, query parameter or cookie."`
	In     string `json:"in,omitempty" enum:"query,cookie" doc:"For api_key: where it is sent. Absent: in a header."`

	ClientID                 string   `json:"client_id,omitempty" doc:"Absent if not set."`
	Scopes                   []string `json:"scopes,omitempty" nullable:"false"`
	Issuer                   string   `json:"issuer,omitempty"`
	AuthorizationEndpoint    string   `json:"authorization_endpoint,omitempty"`
	TokenEndpoint            string   `json:"token_endpoint,omitempty"`
	Resource                 *string  `json:"resource,omitempty" doc:"Absent: from metadata. Empty: none is sent."`
	TokenEndpointAuthMethod  string   `json:"token_endpoint_auth_method,omitempty"`
	AllowMissingPKCEMetadata bool     `json:"allow_missing_pkce_metadata,omitempty"`
	Algorithm                string   `json:"algorithm,omitempty"`
	TokenExchange            string   `json:"token_exchange,omitempty" doc:"actor_token or act_claim. Absent: a person connects each account."`
}

type connectorErrorJSON struct {
	Code    string    `json:"code"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// serverJSON is what an upstream reported about itself: remote text.
type serverJSON struct {
	Name            string `json:"name"`
	Version         string `json:"version"`
	Title           string `json:"title"`
	ProtocolVersion string `json:"protocol_version"`
	Instructions    string `json:"instructions"`
}

// TransformSchema implements huma.SchemaTransformer.
func (connectorJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "last_error", "listening", "tools_vanished")
}

func viewConnector(c connectors.Connector) connectorJSON {
	out := connectorJSON{
		ID:                c.ID.String(),
		Name:              c.Name,
		Slug:              c.Slug,
		Description:       c.Description,
		Kind:              toKind(c),
		Transport:         string(c.Transport),
		URL:               c.URL,
		ServerURL:         c.ServerURL,
		URLUnicode:        connectors.UnicodeURL(c.URL),
		Command:           c.Command.Path,
		Args:              c.Command.Args,
		CWD:               c.Command.Dir,
		EnvNames:          c.EnvNames,
		Headers:           c.Headers,
		CredentialMode:    string(c.CredentialMode),
		Auth:              viewAuth(c),
		Tags:              append([]string{}, c.Tags...),
		SettingsJSON:      c.Settings.JSON(),
		Status:            string(c.Status),
		AuthBehaviour:     string(c.AuthBehaviour),
		DiscoveredTools:   c.DiscoveredTools,
		ToolCount:         c.ToolCount,
		ToolsLastSyncedAt: toUTC(c.ToolsLastSyncedAt),
		Health:            viewHealth(c.Health(time.Now())),
		Server:            viewServer(c.Server),
		Instructions:      string(c.Instructions().Review),
		CreatedAt:         c.CreatedAt.UTC(),
		UpdatedAt:         c.UpdatedAt.UTC(),
	}
	if out.Headers == nil {
		out.Headers = map[string]string{}
	}
	if out.DiscoveredTools == nil {
		out.DiscoveredTools = []string{}
	}
	if v := c.Vanished; v != nil {
		out.Vanished = &vanishedJSON{At: v.At.UTC(), Tools: v.Tools, Of: v.Of}
	}
	if c.LastError != nil {
		out.LastError = &connectorErrorJSON{Code: c.LastError.Code, Message: c.LastError.Message, At: c.LastError.At.UTC()}
	}
	return out
}

func viewAuth(c connectors.Connector) authJSON {
	o := c.OAuth
	return authJSON{
		Type:                     string(c.Auth.Type),
		Header:                   c.Auth.Header,
		In:                       string(c.Auth.In),
		ClientID:                 o.ClientID,
		Scopes:                   o.Scopes,
		Issuer:                   o.Issuer,
		AuthorizationEndpoint:    o.AuthorizationEndpoint,
		TokenEndpoint:            o.TokenEndpoint,
		Resource:                 o.Resource,
		TokenEndpointAuthMethod:  o.TokenEndpointAuthMethod,
		AllowMissingPKCEMetadata: o.AllowMissingPKCEMetadata,
		Algorithm:                o.Algorithm,
		TokenExchange:            string(o.TokenExchange),
	}
}

func viewServer(s connectors.Server) serverJSON {
	return serverJSON{
		Name:            s.Name,
		Version:         s.Version,
		Title:           s.Title,
		ProtocolVersion: s.ProtocolVersion,
		Instructions:    s.Instructions,
	}
}
