package archtest

// Floor is the layer of a package. It imports lower floors only.
type Floor int

// The floors, from the lowest to the highest. Only tests import [Tests], which may import anything.
const (
	Base      Floor = iota // failures, secrets, goroutines: the standard library, and tink
	Domain                 // the product's types and rules; settings; logs
	Libraries              // one technique each, without the product's rules
	Storage                // PostgreSQL
	Requests               // 4a: identity, access and the form of responses
	UseCases               // 4b: what the product does
	Adapters               // browser, API, agents, schedules
	Main                   // constructs, starts and stops everything
	Tests
)

// String names the floor as the documents do.
func (f Floor) String() string {
	return [...]string{"0", "1", "2", "3", "4a", "4b", "5", "6", "T"}[f]
}

// Exception is an import that the floors refuse, and that is allowed for a reason.
type Exception struct {
	From, To string // paths below the module's root
	Because  string
}

// Exceptions lists all of them.
var Exceptions = []Exception{
	{From: "internal/secret", To: "internal/fault", Because: "the error for an unreadable keyset is a fault.Error, and fault imports no other package"},
	{From: "internal/toolchange", To: "internal/jsonschema", Because: "the syntax of references is read in one package, and jsonschema imports no other package"},
	{From: "internal/fasthttp/contexts", To: "internal/safe", Because: "AfterFunc callbacks run in goroutines, and safe imports no other package"},
}

// Room is one package.
type Room struct {
	Path     string // relative to the module
	Floor    Floor
	Part     bool   // part of the package whose path it extends: only that package and its other parts import it
	Sentence string // its purpose
}

// Rooms lists every package, from the highest floor down.
var Rooms = []Room{
	{Path: "cmd/server", Floor: Main, Sentence: "the program patchbay: reads settings, constructs, starts and stops everything"},

	{Path: "internal/admin", Floor: Adapters, Sentence: "the dashboard: constructs its pages and mounts their routes"},
	{Path: "internal/admin/events", Floor: Adapters, Part: true, Sentence: "event streams that keep pages current"},
	{Path: "internal/admin/home", Floor: Adapters, Part: true, Sentence: "the home page, notices and the search"},
	{Path: "internal/admin/settings", Floor: Adapters, Part: true, Sentence: "pages of settings, single sign-on, API keys, webhooks, registries and the audit log"},
	{Path: "internal/admin/people", Floor: Adapters, Part: true, Sentence: "pages of members, invitations and the own account"},
	{Path: "internal/admin/signin", Floor: Adapters, Part: true, Sentence: "sign-in, second factor, setup, confirmations and the consent of programs"},
	{Path: "internal/admin/catalog", Floor: Adapters, Part: true, Sentence: "pages of the catalog and of MCP registries"},
	{Path: "internal/admin/accounts", Floor: Adapters, Part: true, Sentence: "pages of credentials and connected accounts"},
	{Path: "internal/admin/connectors", Floor: Adapters, Part: true, Sentence: "pages of connectors and their syncs"},
	{Path: "internal/admin/agents", Floor: Adapters, Part: true, Sentence: "pages of agents, grants and tokens"},
	{Path: "internal/admin/tools", Floor: Adapters, Part: true, Sentence: "pages of tools and their changes"},
	{Path: "internal/admin/calls", Floor: Adapters, Part: true, Sentence: "pages of calls, tasks and approvals"},
	{Path: "internal/admin/shell", Floor: Adapters, Part: true, Sentence: "what the pages share: frame, forms, tables, routes, confirmations"},
	{Path: "internal/api", Floor: Adapters, Sentence: "the JSON API, with its OpenAPI document"},
	{Path: "internal/ctl", Floor: Adapters, Sentence: "the command line for remote use, over the JSON API"},
	{Path: "internal/gateway", Floor: Adapters, Sentence: "one MCP server for each agent, over the connectors that it was granted"},
	{Path: "internal/operator", Floor: Adapters, Sentence: "the commands of the operator, on the installation's own machine"},
	{Path: "internal/operator/bench", Floor: Adapters, Part: true, Sentence: "measures scheduled syncs, against servers of its own"},
	{Path: "internal/operator/doctor", Floor: Adapters, Part: true, Sentence: "checks an installation, and says what to do about each problem"},
	{Path: "internal/operator/support", Floor: Adapters, Part: true, Sentence: "collects diagnostics of an installation, without secrets"},
	{Path: "internal/mcpadmin", Floor: Adapters, Sentence: "Patchbay itself as an MCP server, for the assistants of admins"},
	{Path: "internal/listchanges", Floor: Adapters, Sentence: "listens for list_changed notifications of servers, and queues syncs"},
	{Path: "internal/jobs", Floor: Adapters, Sentence: "River workers that run queued work, without rules of their own"},

	{Path: "internal/auditstreams", Floor: UseCases, Sentence: "sends the audit log and call outcomes to receivers, as OCSF events"},
	{Path: "internal/authserver", Floor: UseCases, Sentence: "the OAuth authorization server at which programs sign in to the gateway"},
	{Path: "internal/credentialexport", Floor: UseCases, Sentence: "returns the credentials of an agent to a program that calls the servers directly"},
	{Path: "internal/connect", Floor: UseCases, Sentence: "starts and finishes the OAuth connection of an account, on any replica"},
	{Path: "internal/mcpregistry", Floor: UseCases, Sentence: "reads the lists of servers that MCP registries publish"},
	{Path: "internal/manage", Floor: UseCases, Sentence: "changes connectors, credentials and agents for admins"},
	{Path: "internal/publicregistry", Floor: UseCases, Sentence: "publishes the connectors of a tenant to MCP clients, as an MCP registry"},
	{Path: "internal/scim", Floor: UseCases, Sentence: "lets the organisation's identity provider manage members by SCIM"},
	{Path: "internal/sso", Floor: UseCases, Sentence: "signs members in at the OpenID provider of their organisation"},
	{Path: "internal/toolsync", Floor: UseCases, Sentence: "performs one sync run, from handshake to stored difference"},
	{Path: "internal/toolcall", Floor: UseCases, Sentence: "performs one call of an agent: policy, approval, credential, upstream request, history"},
	{Path: "internal/toolcall/upstream", Floor: UseCases, Part: true, Sentence: "pools MCP sessions, so that a call needs one request and no handshake"},
	{Path: "internal/retention", Floor: UseCases, Sentence: "deletes history that is older than the retention of its tenant"},
	{Path: "internal/mailing", Floor: UseCases, Sentence: "writes the e-mail that people get, and sends it with retries"},
	{Path: "internal/webhooks", Floor: UseCases, Sentence: "delivers notices over HTTP, signed, with retries"},

	{Path: "internal/agentview", Floor: Requests, Sentence: "caches what each agent may see and call"},
	{Path: "internal/apiserver", Floor: Requests, Sentence: "an HTTP API as an MCP server in the process"},
	{Path: "internal/apitools", Floor: Requests, Sentence: "reads the document of an HTTP API, and makes the tools that are picked"},
	{Path: "internal/auth", Floor: Requests, Sentence: "authenticates: sign-in, browser session, API key, role"},
	{Path: "internal/credentials", Floor: Requests, Sentence: "resolves the headers that authenticate at the server of a connector"},
	{Path: "internal/calllog", Floor: Requests, Sentence: "writes the history of calls in batches, without delaying the calls"},
	{Path: "internal/installation", Floor: Requests, Sentence: "opens the database and the key of this machine's installation, as its settings say"},
	{Path: "internal/middleware", Floor: Requests, Sentence: "request id, access log, limits and security headers"},
	{Path: "internal/shaping", Floor: Requests, Sentence: "shortens results of tools for models, and reads what was left out: pure"},
	{Path: "internal/respond", Floor: Requests, Sentence: "turns a fault into a problem document or a page"},

	{Path: "internal/store", Floor: Storage, Sentence: "the only SQL: tenant scope, transactions, sealing"},
	{Path: "internal/store/dbgen", Floor: Storage, Part: true, Sentence: "queries as Go, generated by sqlc"},

	{Path: "db", Floor: Libraries, Sentence: "the schema: migrations, the check that it is current, the connection pool"},
	{Path: "internal/catalog", Floor: Libraries, Sentence: "well-known remote MCP servers, and the operator's own: pure, one file of YAML each"},
	{Path: "internal/devmcp", Floor: Libraries, Sentence: "a small MCP server on loopback, for newcomers and tests"},
	{Path: "internal/embeddings", Floor: Libraries, Sentence: "vectors of texts, by an endpoint of the operator"},
	{Path: "internal/export", Floor: Libraries, Sentence: "writes a table as CSV or JSON, in a stream"},
	{Path: "internal/fasthttp/httpserver", Floor: Libraries, Sentence: "serves plain requests of agents without net/http, which gets all others"},
	{Path: "internal/framing", Floor: Libraries, Sentence: "refuses requests with Content-Length and Transfer-Encoding, which net/http accepts"},
	{Path: "internal/inprocess", Floor: Libraries, Sentence: "keeps the response of a handler that is called without a connection"},
	{Path: "internal/jws", Floor: Libraries, Sentence: "verifies what clients sign: algorithms, keys and DPoP proofs"},
	{Path: "internal/kms", Floor: Libraries, Sentence: "wraps the keyset with a key of a key-management service"},
	{Path: "internal/mail", Floor: Libraries, Sentence: "sends plain-text e-mail by the operator's SMTP server"},
	{Path: "internal/manifest", Floor: Libraries, Sentence: "applies a file of connectors, agents and grants, over the JSON API"},
	{Path: "internal/mcp", Floor: Libraries, Sentence: "MCP client that keeps definitions byte for byte"},
	{Path: "internal/mcp/ajv", Floor: Libraries, Part: true, Sentence: "predicts whether Ajv, in the TypeScript SDK, compiles a schema"},
	{Path: "internal/mcp/blocks", Floor: Libraries, Part: true, Sentence: "scans bytes 64 at a time"},
	{Path: "internal/mcp/serve", Floor: Libraries, Sentence: "MCP server over Streamable HTTP, for clients of every era"},
	{Path: "internal/mcp/sse", Floor: Libraries, Part: true, Sentence: "reads server-sent events within bounds"},
	{Path: "internal/mcp/toolfmt", Floor: Libraries, Sentence: "writes tools in the format of each model provider"},
	{Path: "internal/mcp/wire", Floor: Libraries, Part: true, Sentence: "parses JSON-RPC messages and tool lists in one pass"},
	{Path: "internal/auditsentence", Floor: Libraries, Sentence: "words entries of the audit log as sentences"},
	{Path: "internal/clientconfig", Floor: Libraries, Sentence: "reads and writes the files in which MCP clients list their servers"},
	{Path: "internal/openapi/curl", Floor: Libraries, Sentence: "turns a pasted curl command into an endpoint"},
	{Path: "internal/openapi/httpcall", Floor: Libraries, Sentence: "turns arguments into an HTTP request, and its answer into a result of MCP: pure"},
	{Path: "internal/oauth", Floor: Libraries, Sentence: "OAuth 2.1 client, one function per step"},
	{Path: "internal/postgres", Floor: Libraries, Sentence: "finds, starts, adopts and stops the embedded PostgreSQL"},
	{Path: "internal/queue", Floor: Libraries, Sentence: "names the jobs, inserts them inside a transaction, and counts them"},
	{Path: "internal/redact", Floor: Libraries, Sentence: "removes secrets from arguments, results and the words of servers"},
	{Path: "internal/safehttp", Floor: Libraries, Sentence: "the only HTTP client for outbound requests: allowed addresses, bounded sizes and times"},
	{Path: "internal/toolsearch", Floor: Libraries, Sentence: "finds tools by words, in memory, and learns which words led to which tool"},
	{Path: "internal/tracing/otlp", Floor: Libraries, Sentence: "sends traces to the operator's collector"},
	{Path: "web", Floor: Libraries, Sentence: "static files, embedded, under content-hashed names"},
	{Path: "web/templates", Floor: Libraries, Sentence: "pages as functions of their props"},

	{Path: "internal/config", Floor: Domain, Sentence: "flags and environment as checked settings"},
	{Path: "internal/connectors", Floor: Domain, Sentence: "the types and rules of the product: pure, no I/O, no clock"},
	{Path: "internal/mcp/revision", Floor: Domain, Sentence: "the table of protocol versions and of their reserved names"},
	{Path: "internal/fasthttp/httpclient", Floor: Domain, Sentence: "HTTP/1.1 client for plain HTTP, on the goroutine of the caller"},
	{Path: "internal/telemetry", Floor: Domain, Sentence: "logger, metrics, private listener"},
	{Path: "internal/tracing", Floor: Domain, Sentence: "spans, sampled and exported"},
	{Path: "internal/openapi", Floor: Domain, Sentence: "turns operations of API documents, and endpoints by hand, into tools: pure"},
	{Path: "internal/i18n", Floor: Domain, Sentence: "translates the texts of the dashboard"},

	{Path: "client", Floor: Base, Sentence: "the JSON API for Go programs, generated from the OpenAPI document; the standard library alone"},
	{Path: "internal/fault", Floor: Base, Sentence: "the kinds of failure, with sentences that may be shown"},
	{Path: "internal/fasthttp/contexts", Floor: Base, Sentence: "contexts with one allocation, for the path of a call"},
	{Path: "internal/jsonschema", Floor: Base, Sentence: "decodes JSON Schema documents, and resolves their references"},
	{Path: "internal/limit", Floor: Base, Sentence: "in-flight gates, token buckets and byte budgets, by key"},
	{Path: "internal/safe", Floor: Base, Sentence: "starts goroutines, timers and loops that recover from panics"},
	{Path: "internal/secret", Floor: Base, Sentence: "seals credentials, and keeps opened ones out of logs"},
	{Path: "internal/fasthttp/tcp", Floor: Base, Sentence: "reads and writes TCP connections without the scheduler"},
	{Path: "internal/toolchange", Floor: Base, Sentence: "what changed between two definitions of a tool, and how risky it is"},

	{Path: "bench/chaos", Floor: Tests, Sentence: "breaks everything around Patchbay under load, and counts what was lost"},
	{Path: "bench/churn", Floor: Tests, Sentence: "changes connectors while agents list and call, and checks every response"},
	{Path: "bench/gateway", Floor: Tests, Sentence: "measures the gateway against a bare reverse proxy"},
	{Path: "client/internal/generate", Floor: Tests, Sentence: "writes package client from the OpenAPI document"},
	{Path: "conformance/client", Floor: Tests, Sentence: "runs the scenarios of the official suite against a running Patchbay"},
	{Path: "conformance/consent", Floor: Tests, Sentence: "confirms the consent page of an authorization server for the suite"},
	{Path: "conformance/door", Floor: Tests, Sentence: "adds the token that the suite does not send"},
	{Path: "conformance/tally", Floor: Tests, Sentence: "counts the passed checks of a revision, and fails below the required number"},
	{Path: "conformance/tasks", Floor: Tests, Sentence: "is an MCP server that runs tools as tasks, for the official suite"},
	{Path: "conformance/patchbay", Floor: Tests, Sentence: "calls the JSON API for the programs beside it"},
	{Path: "conformance/openapi", Floor: Tests, Sentence: "checks tools of public API documents, and prints a table"},
	{Path: "conformance/search", Floor: Tests, Sentence: "collects real tool definitions, and checks the questions that measure the search for tools"},
	{Path: "e2e", Floor: Tests, Sentence: "tests of the real program as a process"},
	{Path: "internal/archtest", Floor: Tests, Sentence: "this list, and the tests of the structure"},
	{Path: "internal/renames", Floor: Tests, Sentence: "compares two commits that may differ in names only"},
	{Path: "internal/mail/mailtest", Floor: Tests, Sentence: "an SMTP server in the process of the test"},
	{Path: "internal/jws/jwstest", Floor: Tests, Sentence: "signs DPoP proofs as a client does"},
	{Path: "internal/kms/kmstest", Floor: Tests, Sentence: "key-management services in the process of the test"},
	{Path: "internal/mcp/mcptest", Floor: Tests, Sentence: "an in-process MCP server that misbehaves on request"},
	{Path: "internal/oauth/oauthtest", Floor: Tests, Sentence: "an authorization server in the process of the test, odd on request"},
	{Path: "internal/openapi/openapitest", Floor: Tests, Sentence: "calls tools against a server that reads their document on its own"},
	{Path: "internal/toolsearch/searchset", Floor: Tests, Sentence: "reads the tools and questions that measure the search for tools"},
	{Path: "internal/testing/browser", Floor: Tests, Sentence: "drives Chromium in tests"},
	{Path: "internal/testing/egressproxy", Floor: Tests, Sentence: "a forward proxy for tests"},
	{Path: "internal/testing/fixture", Floor: Tests, Sentence: "a database with two tenants, and valid rows in them"},
	{Path: "internal/testing/executable", Floor: Tests, Sentence: "writes programs that tests start"},
	{Path: "internal/testing/htmlcheck", Floor: Tests, Sentence: "states properties of a page"},
	{Path: "internal/testing/paniclog", Floor: Tests, Sentence: "shows tests which panics were logged and counted"},
	{Path: "internal/testing/pgtest", Floor: Tests, Sentence: "a migrated database for every test"},
	{Path: "internal/testing/testclient", Floor: Tests, Sentence: "HTTP clients with transports of their own"},
}
