package revision

import "slices"

// The versions, newest first.
var (
	// Modern versions have no handshake: every request is self-contained.
	Modern = Versions{"2026-07-28"}
	// Handshake versions begin with initialize.
	Handshake = Versions{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
)

// Unnamed is the version of an HTTP request without a version header, which came with 2025-06-18.
const Unnamed = "2025-03-26"

// Batched reports whether a version allows JSON-RPC batches.
func Batched(version string) bool { return version == "2025-03-26" || version == "2024-11-05" }

// Versions are the versions of one era, newest first.
type Versions []string

// Offer returns the version that we request.
func (v Versions) Offer() string { return v[0] }

// Supports reports whether we support a version.
func (v Versions) Supports(version string) bool { return slices.Contains(v, version) }

// Common returns the newest version that is also in named; empty: none.
func (v Versions) Common(named []string) string {
	for _, version := range v {
		if slices.Contains(named, version) {
			return version
		}
	}
	return ""
}

// Members of _meta that the modern versions reserve.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClient       = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaServer       = "io.modelcontextprotocol/serverInfo"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	MetaProgress     = "progressToken"                        // all versions
	MetaRelatedTask  = "io.modelcontextprotocol/related-task" // 2025-11-25
)

// Headers in canonical form.
const (
	HeaderVersion     = "Mcp-Protocol-Version"
	HeaderSession     = "Mcp-Session-Id" // handshake versions
	HeaderMethod      = "Mcp-Method"     // modern versions
	HeaderName        = "Mcp-Name"       // modern versions
	HeaderLastEventID = "Last-Event-Id"  // handshake versions
)

// Error codes of the modern versions.
const (
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
)

// Error codes of JSON-RPC.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// TasksExtension is the capability name of tasks in the modern versions.
const TasksExtension = "io.modelcontextprotocol/tasks"

// SkillsExtension is the capability name of skills (SEP-2640).
const SkillsExtension = "io.modelcontextprotocol/skills"

// UIExtension is the capability name of MCP Apps (SEP-1865), and UIMediaType the type of their resources.
const (
	UIExtension = "io.modelcontextprotocol/ui"
	UIMediaType = "text/html;profile=mcp-app"
	UISettings  = `{"mimeTypes":["` + UIMediaType + `"]}` // of a client that shows such resources
)

// TasksSince is the first version with tasks.
const TasksSince = "2025-11-25"
