package tracing

import "go.opentelemetry.io/otel/attribute"

// What is noted of spans, by the names of OpenTelemetry's semantic conventions: those of HTTP, of servers, and of MCP and generative AI.
const (
	ErrorType      attribute.Key = "error.type"
	Method         attribute.Key = "http.request.method"
	Status         attribute.Key = "http.response.status_code"
	Route          attribute.Key = "http.route"
	Scheme         attribute.Key = "url.scheme"
	Address        attribute.Key = "server.address"
	Port           attribute.Key = "server.port"
	Transport      attribute.Key = "network.transport"
	MCPMethod      attribute.Key = "mcp.method.name"
	MCPVersion     attribute.Key = "mcp.protocol.version"
	Operation      attribute.Key = "gen_ai.operation.name"
	ToolName       attribute.Key = "gen_ai.tool.name"
	PromptName     attribute.Key = "gen_ai.prompt.name"
	AgentName      attribute.Key = "gen_ai.agent.name"
	AgentID        attribute.Key = "gen_ai.agent.id"
	RPCStatus      attribute.Key = "rpc.response.status_code"
	ExecutesTool                 = "execute_tool" // of Operation
	ToolSaysFailed               = "tool_error"   // of ErrorType
)

// What the conventions have no name for.
const (
	Tenant    attribute.Key = "patchbay.tenant.id"
	Connector attribute.Key = "patchbay.connector"
	Agent     attribute.Key = "patchbay.agent"
	Call      attribute.Key = "patchbay.call.id"
	Outcome   attribute.Key = "patchbay.outcome"
	SyncRun   attribute.Key = "patchbay.sync_run.id"
	Request   attribute.Key = "patchbay.request.id"
	Trigger   attribute.Key = "patchbay.sync.trigger"
	Tools     attribute.Key = "patchbay.sync.tools"
	Job       attribute.Key = "patchbay.job"
)
