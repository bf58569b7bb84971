package connectors

import "time"

// Transport is the transport of a connector's server.
type Transport string

// The transports.
const (
	TransportStreamableHTTP Transport = "streamable_http"
	TransportSSE            Transport = "sse"  // legacy HTTP+SSE, MCP 2024-11-05
	TransportHTTP           Transport = "http" // JSON replies only
	TransportStdio          Transport = "stdio"
	TransportAPI            Transport = "api" // no MCP: an HTTP API, of which Patchbay makes tools
)

// CredentialMode is whether agents share a credential.
type CredentialMode string

// The credential modes.
const (
	CredentialShared   CredentialMode = "shared"    // one for all agents
	CredentialPerAgent CredentialMode = "per_agent" // one per agent, never another agent's
)

// ToolChangePolicy selects the upstream changes of tools that need a person's review.
type ToolChangePolicy string

// The tool change policies.
const (
	ToolChangesAuto      ToolChangePolicy = "auto"
	ToolChangesHoldRisky ToolChangePolicy = "hold_risky"
	ToolChangesHoldAll   ToolChangePolicy = "hold_all"
)

// ConnectorStatus is the status of a connector everywhere, from its last sync and its credentials. The database's
// function connector_status computes it.
type ConnectorStatus string

// The connector states.
const (
	StatusNeverSynced ConnectorStatus = "never_synced"
	StatusOK          ConnectorStatus = "ok"
	StatusError       ConnectorStatus = "error"
	StatusNeedsAuth   ConnectorStatus = "needs_auth"
	StatusDisabled    ConnectorStatus = "disabled"
)

// AuthBehaviour is when a server requires authentication, as seen at sync.
type AuthBehaviour string

// The auth behaviours.
const (
	AuthUnknown  AuthBehaviour = "unknown"
	AuthOpen     AuthBehaviour = "open"      // never
	AuthListOpen AuthBehaviour = "list_open" // at calls, not at lists
	AuthAll      AuthBehaviour = "all_auth"  // always
)

// Connector is a registered MCP server.
type Connector struct {
	ID ConnectorID
	Settings
	EnvNames []string // of the command's stored environment, sorted; the values are secrets
	Version  int      // of the settings, for optimistic locking

	Status            ConnectorStatus // where loaded
	AuthBehaviour     AuthBehaviour
	DiscoveredTools   []string // sorted names of the current tools
	Tags              []string // by which people group connectors, in alphabetical order
	ToolCount         int
	ToolsLastSyncedAt *time.Time // last success; nil: never
	LastError         *SyncError // nil after a success
	Running           *SyncRunID // the current run; nil: none
	Server            Server
	HeldBack          *HeldInstructions // nil: agents get the server's current instructions
	Capabilities      []byte            // of the server, as JSON; nil: none
	ItemsHash         *Hash             // of prompts and resources; nil: none
	SkillsHash        *Hash             // of skills; nil: none
	IconHash          *Hash             // of the server's icon; nil: none
	Era               string            // of MCP versions, as last used; empty: unknown

	Clock       Clock            // where loaded
	Vanished    *VanishedTools   // where loaded; nil: none
	Credentials CredentialsState // where loaded

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Auth is a connector's authentication without its secrets, which are credentials.
type Auth struct {
	Type   AuthType
	Header string // for api_key: the name of the header, query parameter or cookie
	In     KeyIn  // for api_key: where it is sent
}

// KeyIn is where an API key is sent. MCP servers get it in a header.
type KeyIn string

// The places.
const (
	KeyInHeader KeyIn = ""
	KeyInQuery  KeyIn = "query"
	KeyInCookie KeyIn = "cookie"
)

// Server is an upstream's self-description from its handshake: remote text, show it escaped.
type Server struct {
	Name            string
	Version         string
	Title           string
	ProtocolVersion string
	Instructions    string
}

// SyncError is the reason of the last failed sync: a code of the API and a sentence.
type SyncError struct {
	Code    string
	Message string
	At      time.Time

	Temporary  bool          // it may pass without action; not stored
	RetryAfter time.Duration // requested by the server; not stored
	Upstream   *Upstream     // stored with the run; nil: none
}
