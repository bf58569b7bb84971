package revision

import "slices"

// The versions, newest first.
var (
	// Modern versions have no handshake: every request says all.
	Modern = Versions{"2026-07-28"}
	// Handshake versions begin with initialize.
	Handshake = Versions{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
)

// Unnamed is the version of a request over HTTP that names none: the header came with 2025-06-18.
const Unnamed = "2025-03-26"

// Batched tells whether a version lets several messages travel as one array.
func Batched(version string) bool { return version == "2025-03-26" || version == "2024-11-05" }

// Versions are those of one era, newest first.
type Versions []string

// Offer is the version that we ask for.
func (v Versions) Offer() string { return v[0] }

// Knows tells whether we can speak a version that the other side chose.
func (v Versions) Knows(version string) bool { return slices.Contains(v, version) }

// Common is the newest version that the other side names, too; empty: there is none.
func (v Versions) Common(named []string) string {
	for _, version := range v {
		if slices.Contains(named, version) {
			return version
		}
	}
	return ""
}

// The members of _meta that the modern versions have reserved.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClient       = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaServer       = "io.modelcontextprotocol/serverInfo"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	MetaProgress     = "progressToken" // of every version
)

// The headers, as net/http writes them.
const (
	HeaderVersion     = "Mcp-Protocol-Version"
	HeaderSession     = "Mcp-Session-Id" // handshake versions
	HeaderMethod      = "Mcp-Method"     // modern versions
	HeaderName        = "Mcp-Name"       // modern versions
	HeaderLastEventID = "Last-Event-Id"  // handshake versions
)

// The codes by which a server of the modern versions refuses a request.
const (
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)

// The codes of JSON-RPC.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// TasksExtension is the name under which tasks are declared by the modern versions.
const TasksExtension = "io.modelcontextprotocol/tasks"
