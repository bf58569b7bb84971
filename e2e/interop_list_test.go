//go:build e2e && interop

package e2e_test

import (
	"regexp"
	"strings"
	"testing"
)

// interopServer is an MCP server of another publisher. In args and env, {port}, {dir}, {node} and {modules} stand for the port to listen
// on, the home of the programs, Node.js and the npm packages.
type interopServer struct {
	slug   string
	name   string // npm package, or Go package
	script string // or program of the npm package, or servers/… that runs the package as a server; empty: the Go package is a program
	args   []string
	env    []string
	path   string // of the server's address; empty: stdio
	modern bool   // of 2026-07-28, else of 2025-11-25
	sse    bool   // HTTP+SSE of 2024-11-05, else Streamable HTTP
	calls  []interopCall
	note   string // of the table
}

// interopCall is a call that changes nothing.
type interopCall struct {
	tool      string
	arguments string         // JSON; empty: none. {dir} as above
	differs   *regexp.Regexp // what differs from one call to the next
}

func (s interopServer) transport() string {
	switch {
	case s.path == "":
		return "stdio"
	case s.sse:
		return "sse"
	}
	return "streamable_http"
}

// isGo reports whether the package is one of Go: its path begins with a domain.
func (s interopServer) isGo() bool {
	domain, _, _ := strings.Cut(s.name, "/")
	return strings.Contains(domain, ".")
}

func (s interopServer) version(t *testing.T) string {
	t.Helper()
	if s.isGo() {
		_, version := goModule(t, s.name)
		return version
	}
	return npmVersion(t, s.name)
}

const (
	everythingPackage = "@modelcontextprotocol/server-everything"
	memoryPackage     = "@modelcontextprotocol/server-memory"
	memoryScript      = "{modules}/" + memoryPackage + "/dist/index.js"
)

var (
	everythingCalls = []interopCall{
		{tool: "echo", arguments: `{"message":"5 < 6 & ✓"}`},
		{tool: "get-sum", arguments: `{"a":1,"b":2}`},
		{tool: "get-structured-content", arguments: `{"location":"New York"}`},
		{tool: "get-tiny-image"},
		{tool: "get-annotated-message", arguments: `{"messageType":"error","includeImage":true}`},
		{tool: "get-resource-links", arguments: `{"count":2}`},
	}
	memoryCalls = []interopCall{{tool: "read_graph"}, {tool: "search_nodes", arguments: `{"query":"nothing"}`}}
	addCalls    = []interopCall{{tool: "add", arguments: `{"a":1,"b":2}`}}
	grafanaEnv  = []string{"GRAFANA_URL=http://localhost:9", "GRAFANA_SERVICE_ACCOUNT_TOKEN=glsa_0"}
	// Without a Grafana the tool says so.
	grafanaCalls = []interopCall{{tool: "list_datasources"}, {tool: "get_tempo_traceql_docs", arguments: `{"topic":"basic"}`}}
	viewID       = regexp.MustCompile(`viewUUID: "[^"]+`)
	clock        = regexp.MustCompile(`time is [^"]+`)
	greetCalls   = []interopCall{{tool: "greet", arguments: `{"name":"Ann"}`}, {tool: "greet (structured)", arguments: `{"name":"Ann"}`}}
)

// interopServers start without an account and without a network. Their keys are of no worth. interop/absent.txt has others that cannot
// be had, with the reasons.
var interopServers = []interopServer{
	{slug: "angular", name: "@angular/cli", script: "bin/ng.js", args: []string{"mcp"}, env: []string{"NG_CLI_ANALYTICS=false"}},
	{slug: "antv-chart", name: "@antv/mcp-server-chart", script: "build/index.js"},
	{slug: "azure", name: "@azure/mcp", script: "index.js", args: []string{"server", "start"}, env: []string{"AZURE_MCP_COLLECT_TELEMETRY=false"}},
	{slug: "brave", name: "@brave/brave-search-mcp-server", script: "dist/index.js", env: []string{"BRAVE_API_KEY=0"}},
	{
		slug: "budget", name: "@modelcontextprotocol/server-budget-allocator", script: "dist/index.js", args: []string{"--stdio"},
		calls: []interopCall{{tool: "get-budget-data"}},
	},
	{slug: "chrome-devtools", name: "chrome-devtools-mcp", script: "build/src/bin/chrome-devtools-mcp.js"},
	{slug: "circleci", name: "@circleci/mcp-server-circleci", script: "dist/index.js", env: []string{"CIRCLECI_TOKEN=0"}},
	{slug: "claude-code", name: "@anthropic-ai/claude-code-linux-x64", script: "claude", args: []string{"mcp", "serve"}},
	{slug: "cloudflare", name: "@cloudflare/mcp-server-cloudflare", script: "dist/index.js", args: []string{"run", "0"}, env: []string{"CLOUDFLARE_API_TOKEN=0"}},
	{slug: "context7", name: "@upstash/context7-mcp", script: "dist/index.js"},
	{slug: "desktop-commander", name: "@wonderwhy-er/desktop-commander", script: "dist/index.js", args: []string{"--no-onboarding"}},
	{slug: "elasticsearch", name: "@elastic/mcp-server-elasticsearch", script: "dist/index.js", env: []string{"ES_URL=http://127.0.0.1:9", "ES_API_KEY=0"}},
	{slug: "eslint", name: "@eslint/mcp", script: "src/mcp-cli.js"},
	{slug: "everything", name: everythingPackage, script: "dist/index.js", calls: everythingCalls},
	{
		slug: "everything-http", name: everythingPackage, script: "dist/index.js", args: []string{"streamableHttp"}, env: []string{"PORT={port}"},
		path: "/mcp", calls: everythingCalls,
	},
	{
		slug: "everything-sse", name: everythingPackage, script: "dist/index.js", args: []string{"sse"}, env: []string{"PORT={port}"},
		path: "/sse", sse: true, calls: everythingCalls,
	},
	{slug: "exa", name: "exa-mcp-server", script: "dist/stdio.cjs", env: []string{"EXA_API_KEY=0"}},
	{slug: "fastmcp", name: "fastmcp", script: "servers/fastmcp.mjs", args: []string{"{port}"}, path: "/mcp", calls: addCalls},
	{slug: "fastmcp-sse", sse: true, name: "fastmcp", script: "servers/fastmcp.mjs", args: []string{"{port}"}, path: "/sse", calls: addCalls},
	{slug: "figma", name: "figma-developer-mcp", script: "dist/bin.js", args: []string{"--stdio", "--no-telemetry", "--image-dir", "{dir}"}, env: []string{"FIGMA_API_KEY=0"}},
	{
		slug: "filesystem", name: "@modelcontextprotocol/server-filesystem", script: "dist/index.js", args: []string{"{dir}"},
		calls: []interopCall{{tool: "list_allowed_directories"}, {tool: "read_text_file", arguments: `{"path":"{dir}/missing"}`}},
	},
	{
		slug: "firebase", name: "firebase-tools", script: "lib/bin/firebase.js", args: []string{"mcp", "--only", "core,auth,storage"},
		calls: []interopCall{{tool: "firebase_get_environment"}}, note: "its other tools are listed by services",
	},
	{slug: "firecrawl", name: "firecrawl-mcp", script: "dist/index.js", env: []string{"FIRECRAWL_API_KEY=fc-0"}},
	{slug: "genkit", name: "@genkit-ai/mcp", script: "servers/genkit.mjs", calls: addCalls},
	{
		slug: "github-go", name: "github.com/github/github-mcp-server/cmd/github-mcp-server", args: []string{"stdio"},
		env: []string{"GITHUB_PERSONAL_ACCESS_TOKEN=ghp_0"},
	},
	{slug: "gitlab", name: "@zereight/mcp-gitlab", script: "build/index.js", env: []string{"GITLAB_PERSONAL_ACCESS_TOKEN=glpat-0"}},
	{
		slug: "go-mcp-http", name: "github.com/ThinkInAIXYZ/go-mcp/examples/everything", args: []string{"-port", "{port}"}, path: "/mcp",
		calls: []interopCall{{tool: "current_time", arguments: `{"timezone":"UTC"}`, differs: clock}},
	},
	{
		slug: "go-mcp-sse", name: "github.com/ThinkInAIXYZ/go-mcp/examples/everything", args: []string{"-transport", "sse", "-port", "{port}"}, path: "/sse", sse: true,
		calls: []interopCall{{tool: "current_time", arguments: `{"timezone":"UTC"}`, differs: clock}},
	},
	{slug: "go-sdk", name: "github.com/modelcontextprotocol/go-sdk/examples/server/everything", calls: greetCalls},
	{
		slug: "go-sdk-http", name: "github.com/modelcontextprotocol/go-sdk/examples/server/everything", args: []string{"-http", "localhost:{port}"},
		path: "/", calls: greetCalls,
	},
	{
		slug: "go-sdk-memory", name: "github.com/modelcontextprotocol/go-sdk/examples/server/memory", args: []string{"-http", "localhost:{port}"},
		path: "/", calls: memoryCalls,
	},
	{
		slug: "go-sdk-sse", name: "github.com/modelcontextprotocol/go-sdk/examples/server/sse", args: []string{"-port", "{port}"},
		path: "/greeter1", sse: true, calls: []interopCall{{tool: "greet1", arguments: `{"name":"Ann"}`}},
	},
	{slug: "grafana", name: "github.com/grafana/mcp-grafana/cmd/mcp-grafana", env: grafanaEnv, calls: grafanaCalls},
	{
		slug: "grafana-http", name: "github.com/grafana/mcp-grafana/cmd/mcp-grafana", args: []string{"-t", "streamable-http", "-address", "localhost:{port}"}, env: grafanaEnv,
		path: "/mcp", calls: grafanaCalls,
	},
	{
		slug: "grafana-sse", name: "github.com/grafana/mcp-grafana/cmd/mcp-grafana", args: []string{"-t", "sse", "-address", "localhost:{port}"}, env: grafanaEnv,
		path: "/sse", sse: true, calls: grafanaCalls,
	},
	{slug: "hubspot", name: "@hubspot/mcp-server", script: "dist/index.js", env: []string{"PRIVATE_APP_ACCESS_TOKEN=pat-0"}},
	{
		slug: "kubernetes-go", name: "kubernetes-mcp-server-linux-amd64", script: "bin/kubernetes-mcp-server-linux-amd64", env: []string{"KUBECONFIG={modules}/../servers/kubeconfig.yaml"},
		calls: []interopCall{{tool: "configuration_view"}},
	},
	{slug: "kubernetes-npm", name: "mcp-server-kubernetes", script: "dist/index.js"},
	{slug: "launchdarkly", name: "@launchdarkly/mcp-server", script: "bin/mcp-server.js", args: []string{"start", "--api-key", "api-0"}},
	{slug: "map", name: "@modelcontextprotocol/server-map", script: "dist/index.js", args: []string{"--stdio"}, calls: []interopCall{{tool: "show-map", differs: viewID}}},
	{slug: "mapbox", name: "@mapbox/mcp-server", script: "dist/esm/index.js", env: []string{"MAPBOX_ACCESS_TOKEN=pk.eyJ1IjoiYSIsImEiOiJhIn0.0"}},
	{slug: "mastra", modern: true, name: "@mastra/mcp", script: "servers/mastra.mjs", args: []string{"{port}"}, path: "/mcp", calls: addCalls},
	{slug: "mastra-docs", name: "@mastra/mcp-docs-server", script: "dist/stdio.js"},
	{
		slug: "mcp-go", name: "github.com/mark3labs/mcp-go/examples/everything",
		calls: []interopCall{{tool: "echo", arguments: `{"message":"5 < 6 & ✓"}`}, {tool: "add", arguments: `{"a":1,"b":2}`}, {tool: "getTinyImage"}},
	},
	{slug: "mcp-handler", modern: true, name: "mcp-handler", script: "servers/mcp-handler.mjs", args: []string{"{port}"}, path: "/mcp", calls: addCalls},
	{
		slug: "mcp-proxy-http", modern: true, name: "mcp-proxy", script: "dist/bin/mcp-proxy.mjs", args: []string{"--port", "{port}", "--server", "stream", "{node}", memoryScript},
		env: []string{"MEMORY_FILE_PATH={dir}/memory.json"}, path: "/mcp", calls: memoryCalls,
	},
	{
		slug: "mcp-proxy-sse", name: "mcp-proxy", script: "dist/bin/mcp-proxy.mjs", args: []string{"--port", "{port}", "--server", "sse", "{node}", memoryScript},
		env: []string{"MEMORY_FILE_PATH={dir}/memory.json"}, path: "/sse", sse: true, calls: memoryCalls,
	},
	{slug: "mcp-use", name: "mcp-use", script: "servers/mcp-use.mjs", args: []string{"{port}"}, path: "/mcp", calls: addCalls},
	{slug: "memory", name: memoryPackage, script: "dist/index.js", env: []string{"MEMORY_FILE_PATH={dir}/memory.json"}, calls: memoryCalls},
	{slug: "monday", name: "@mondaydotcomorg/monday-api-mcp", script: "dist/index.js", args: []string{"-t", "0"}},
	{slug: "mongodb", name: "mongodb-mcp-server", script: "dist/esm/index.js", env: []string{"MDB_MCP_TELEMETRY=disabled"}},
	{
		slug: "n8n", name: "n8n-mcp", script: "dist/mcp/index.js", env: []string{"MCP_MODE=stdio", "N8N_MCP_TELEMETRY_DISABLED=true"},
		calls: []interopCall{{tool: "tools_documentation"}, {tool: "get_node", arguments: `{"nodeType":"nodes-base.httpRequest"}`}},
	},
	{slug: "netlify", name: "@netlify/mcp", script: "dist/netlify-mcp.js"},
	{slug: "next-devtools", name: "next-devtools-mcp", script: "dist/index.js", env: []string{"NEXT_TELEMETRY_DISABLED=1"}},
	{slug: "notion", name: "@notionhq/notion-mcp-server", script: "bin/cli.mjs", env: []string{"NOTION_TOKEN=ntn_0"}},
	{slug: "nx", name: "nx-mcp", script: "main.js"},
	{slug: "pdf", name: "@modelcontextprotocol/server-pdf", script: "dist/index.js", args: []string{"--stdio"}, calls: []interopCall{{tool: "list_pdfs"}}},
	{slug: "playwright", name: "@playwright/mcp", script: "cli.js", calls: []interopCall{{tool: "browser_close"}}},
	{slug: "playwright-http", name: "@playwright/mcp", script: "cli.js", args: []string{"--port", "{port}"}, path: "/mcp", calls: []interopCall{{tool: "browser_close"}}},
	{
		slug: "playwright-sse", name: "@playwright/mcp", script: "cli.js", args: []string{"--port", "{port}"}, path: "/sse", sse: true,
		calls: []interopCall{{tool: "browser_close"}},
	},
	{slug: "postman", name: "@postman/postman-mcp-server", script: "dist/src/index.js", args: []string{"--full"}, env: []string{"POSTMAN_API_KEY=PMAK-0"}},
	{
		slug: "salesforce", name: "@salesforce/mcp", script: "bin/run.js", args: []string{"--orgs", "DEFAULT_TARGET_ORG", "--toolsets", "all", "--no-telemetry"},
		calls: []interopCall{{tool: "create_mobile_lwc_payments"}},
	},
	{slug: "sentry", name: "@sentry/mcp-server", script: "dist/index.js", args: []string{"--access-token=0"}},
	{
		slug: "sequential-thinking", name: "@modelcontextprotocol/server-sequential-thinking", script: "dist/index.js",
		calls: []interopCall{{tool: "sequentialthinking", arguments: `{"thought":"one","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`}},
	},
	{slug: "shadcn", name: "shadcn", script: "dist/index.js", args: []string{"mcp"}, calls: []interopCall{{tool: "get_audit_checklist"}}},
	{slug: "shopify-dev", name: "@shopify/dev-mcp", script: "dist/index.js", env: []string{"OPT_OUT_INSTRUMENTATION=true"}},
	{
		slug: "supergateway-http", name: "supergateway", script: "dist/index.js",
		args: []string{"--stdio", "{node} " + memoryScript, "--outputTransport", "streamableHttp", "--stateful", "--port", "{port}"},
		env:  []string{"MEMORY_FILE_PATH={dir}/memory.json"}, path: "/mcp", calls: memoryCalls,
	},
	{
		slug: "supergateway-sse", name: "supergateway", script: "dist/index.js", args: []string{"--stdio", "{node} " + memoryScript, "--port", "{port}"},
		env: []string{"MEMORY_FILE_PATH={dir}/memory.json"}, path: "/sse", sse: true, calls: memoryCalls,
	},
	{slug: "tavily", name: "tavily-mcp", script: "build/index.js", env: []string{"TAVILY_API_KEY=tvly-0"}},
	{slug: "tmcp", name: "tmcp", script: "servers/tmcp.mjs", args: []string{"{port}"}, path: "/mcp", calls: addCalls},
	{slug: "tmcp-sse", sse: true, name: "tmcp", script: "servers/tmcp.mjs", args: []string{"{port}"}, path: "/sse", calls: addCalls},
	{
		slug: "toolbox", name: "@toolbox-sdk/server-linux-x64", script: "bin/toolbox", args: []string{"--stdio", "--prebuilt", "sqlite"}, env: []string{"SQLITE_DATABASE={dir}/toolbox.db"},
		calls: []interopCall{{tool: "list_tables"}, {tool: "execute_sql", arguments: `{"sql":"select 1 as one"}`}},
	},
	{slug: "trpc", name: "trpc.group/trpc-go/trpc-mcp-go", script: "servers/trpc", args: []string{"{port}"}, path: "/mcp", calls: addCalls},
	{slug: "ts-v1-json", name: "@modelcontextprotocol/sdk", script: "servers/ts-v1.mjs", args: []string{"{port}"}, path: "/mcp", calls: addCalls},
	{slug: "ts-v2", name: "@modelcontextprotocol/server", script: "servers/ts-v2.mjs", args: []string{"{port}"}, path: "/mcp", calls: addCalls},
	{slug: "ts-v2-modern", modern: true, name: "@modelcontextprotocol/server", script: "servers/ts-v2-modern.mjs", args: []string{"{port}"}, path: "/mcp", calls: addCalls},
	{slug: "twilio", name: "@twilio-alpha/mcp", script: "build/index.js", args: []string{"AC00000000000000000000000000000000/SK00000000000000000000000000000000:0"}},
}
