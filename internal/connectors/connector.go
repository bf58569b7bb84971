package connectors

import "time"

// Transport is how a connector's server is reached.
type Transport string

// The transports.
const (
	TransportStreamableHTTP Transport = "streamable_http"
	TransportSSE            Transport = "sse"  // legacy HTTP+SSE, MCP 2024-11-05
	TransportHTTP           Transport = "http" // JSON replies only
	TransportStdio          Transport = "stdio"
)

// CredentialMode says whose credential is used.
type CredentialMode string

// The credential modes.
const (
	CredentialShared   CredentialMode = "shared"    // one for all agents
	CredentialPerAgent CredentialMode = "per_agent" // each agent its own, and never another's
)

// ToolChangePolicy says which upstream changes of a tool wait for a person's decision.
type ToolChangePolicy string

// The tool change policies.
const (
	ToolChangesAuto      ToolChangePolicy = "auto"
	ToolChangesHoldRisky ToolChangePolicy = "hold_risky"
	ToolChangesHoldAll   ToolChangePolicy = "hold_all"
)

// ConnectorStatus is the state that a list shows.
type ConnectorStatus string

// The connector states.
const (
	StatusNeverSynced ConnectorStatus = "never_synced"
	StatusOK          ConnectorStatus = "ok"
	StatusError       ConnectorStatus = "error"
	StatusNeedsAuth   ConnectorStatus = "needs_auth"
	StatusDisabled    ConnectorStatus = "disabled"
)

// AuthBehaviour is what a server asks for, as seen at sync.
type AuthBehaviour string

// The auth behaviours.
const (
	AuthUnknown  AuthBehaviour = "unknown"
	AuthOpen     AuthBehaviour = "open"      // asks for nothing
	AuthListOpen AuthBehaviour = "list_open" // lists openly, asks at a call
	AuthAll      AuthBehaviour = "all_auth"  // asks for everything
)

// Bounds of a connector's settings.
const (
	DefaultTimeout  = 30 * time.Second
	MinTimeout      = time.Second
	MaxTimeout      = 300 * time.Second
	DefaultRetries  = 3
	MaxRetries      = 5
	DefaultInterval = 900 * time.Second
	MinInterval     = 60 * time.Second

	DefaultDefinitionAge = 900 * time.Second
	MinDefinitionAge     = 60 * time.Second
	MaxDefinitionAge     = 24 * time.Hour
	MaxInterval          = 365 * 24 * time.Hour
)

// Connector is a registered MCP server.
type Connector struct {
	ID             ConnectorID
	Slug           string
	Name           string
	Description    string
	Transport      Transport
	URL            string            // empty for stdio
	Command        Command           // for stdio
	EnvNames       []string          // of the command's stored environment, sorted; the values are secrets
	Headers        map[string]string // sent with each request; no secrets
	CredentialMode CredentialMode
	Auth           Auth
	OAuth          OAuthSettings // for oauth2 and its kin
	Timeout        time.Duration // of one upstream request
	RetryAttempts  int           // after the first try
	Enabled        bool
	SyncInterval   time.Duration // 0: never by itself
	ToolChanges    ToolChangePolicy
	Listen         ListenPolicy
	DefinitionAge  time.Duration // how old its last success may be when a tool that may destroy something is called; 0: any age
	CallsPerMinute int           // of all agents together; 0: not bounded
	Version        int           // of the settings, for optimistic edits

	Status            ConnectorStatus
	AuthBehaviour     AuthBehaviour
	DiscoveredTools   []string // sorted names of the tools that are there now
	ToolCount         int
	ToolsLastSyncedAt *time.Time // last success; nil: never
	LastError         *SyncError // nil after a success
	Running           *SyncRunID // the run that is under way; nil: none
	Server            Server
	HeldBack          *HeldInstructions // nil: agents are given the server's instructions as they are
	Capabilities      []byte            // that the server named, as JSON; nil: none
	ItemsHash         *Hash             // of its prompts and resources; nil: there are none
	Era               string            // the family of MCP versions that the server spoke last; empty: not known

	Clock       Clock            // as far as it was read
	Credentials CredentialsState // likewise

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Auth says how a connector is authenticated; the secrets themselves are credentials.
type Auth struct {
	Type   AuthType
	Header string // for api_key: the header's name
}

// Server is what an upstream said of itself in its handshake. All of it is remote text: show it escaped.
type Server struct {
	Name            string
	Version         string
	Title           string
	ProtocolVersion string
	Instructions    string
}

// SyncError is the reason of the last failed sync, as one of the codes of the public contract and a sentence.
type SyncError struct {
	Code    string
	Message string
	At      time.Time

	Temporary  bool          // it may pass by itself; not stored
	RetryAfter time.Duration // that the server asked for; not stored
}
