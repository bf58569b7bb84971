package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const startTime = 90 * time.Second

// environment has credentials of no worth: most servers list their tools without using them.
var environment = []string{
	"API_KEY=0", "GITHUB_PERSONAL_ACCESS_TOKEN=ghp_0", "GITLAB_PERSONAL_ACCESS_TOKEN=glpat-0", "USE_PIPELINE=true", "USE_MILESTONE=true", "USE_GITLAB_WIKI=true",
	"SLACK_BOT_TOKEN=xoxb-0", "SLACK_TEAM_ID=T0", "GOOGLE_MAPS_API_KEY=0", "BRAVE_API_KEY=0", "EVERART_API_KEY=0", "NOTION_TOKEN=ntn_0", "STRIPE_SECRET_KEY=rk_test_0",
	"SENTRY_ACCESS_TOKEN=sntryu_0", "SUPABASE_ACCESS_TOKEN=sbp_0000000000000000000000000000000000000000", "FIRECRAWL_API_KEY=fc-0", "TAVILY_API_KEY=tvly-0",
	"EXA_API_KEY=0", "HEROKU_API_KEY=0", "PRIVATE_APP_ACCESS_TOKEN=pat-0", "HUBSPOT_ACCESS_TOKEN=pat-0", "FIGMA_API_KEY=0", "CIRCLECI_TOKEN=0", "MAPBOX_ACCESS_TOKEN=pk.eyJ1IjoiYSJ9.a",
	"APIFY_TOKEN=0", "BROWSERBASE_API_KEY=0", "BROWSERBASE_PROJECT_ID=0", "GEMINI_API_KEY=0", "NEON_API_KEY=0", "CLICKUP_API_KEY=0", "CLICKUP_TEAM_ID=0",
	"CURRENTS_API_KEY=0", "POSTMAN_API_KEY=0", "PINECONE_API_KEY=pcsk_0", "CONTENTFUL_MANAGEMENT_ACCESS_TOKEN=0", "SPACE_ID=0", "ENVIRONMENT_ID=master",
	"SANITY_PROJECT_ID=abc", "SANITY_DATASET=production", "SANITY_API_TOKEN=0", "CHANNEL_ACCESS_TOKEN=0", "ASANA_ACCESS_TOKEN=0", "LINEAR_API_TOKEN=lin_api_0",
	"ES_URL=http://127.0.0.1:9", "ES_API_KEY=0", "ALGOLIA_APP_ID=0", "ALGOLIA_API_KEY=0", "GRAFANA_URL=http://127.0.0.1:9", "GRAFANA_API_KEY=glsa_0",
	"PAYPAL_ACCESS_TOKEN=0", "DT_ENVIRONMENT=https://abc12345.apps.dynatrace.com", "MDB_MCP_CONNECTION_STRING=mongodb://127.0.0.1:9/test",
	"MDB_MCP_API_CLIENT_ID=0", "MDB_MCP_API_CLIENT_SECRET=0", "N8N_API_URL=http://127.0.0.1:9", "N8N_API_KEY=0", "MCP_MODE=stdio", "LOG_LEVEL=error",
	"AIRTABLE_API_KEY=pat0.0", "DISCORD_TOKEN=0", "METABASE_URL=http://127.0.0.1:9", "METABASE_API_KEY=0", "ITERABLE_API_KEY=00000000000000000000000000000000", "EBAY_CLIENT_ID=0", "EBAY_CLIENT_SECRET=0", "EBAY_REDIRECT_URI=http://127.0.0.1", "EBAY_ENVIRONMENT=sandbox",
	"CONFLUENCE_HOST=127.0.0.1:9", "CONFLUENCE_API_TOKEN=0", "RUNPOD_API_KEY=0", "ARGOCD_BASE_URL=http://127.0.0.1:9", "ARGOCD_API_TOKEN=0", "HA_AGENT_KEY=0",
	"DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1", "N8N_MCP_TELEMETRY_DISABLED=true", "MDB_MCP_TELEMETRY=disabled", "NODE_NO_WARNINGS=1", "ANTHROPIC_API_KEY=sk-ant-0",
	"LAUNCHDARKLY_API_KEY=api-0", "SLACK_MCP_XOXB_TOKEN=demo", "SLACK_MCP_XOXP_TOKEN=demo", "TASK_MASTER_TOOLS=all",
}

// listServer starts a program and lists its tools over its standard input and output.
func listServer(ctx context.Context, s listedServer) (tools []json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	command, err := serverCommand(ctx, s)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "search-home-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	command.Dir, command.Stderr = home, io.Discard
	if os.Getenv("SEARCH_VERBOSE") != "" {
		command.Stderr = os.Stderr
	}
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, environment...)
	client := mcp.NewClient(&mcp.Implementation{Name: "collect", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command, TerminateDuration: 2 * time.Second}, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(tool)
		if err != nil {
			return nil, err
		}
		tools = append(tools, raw)
	}
	return tools, nil
}

func serverCommand(ctx context.Context, s listedServer) (*exec.Cmd, error) {
	root, err := filepath.Abs(filepath.Join(installed, s.Server))
	if err != nil {
		return nil, err
	}
	if s.Kind == kindGo {
		return exec.CommandContext(ctx, filepath.Join(filepath.Dir(root), "go", filepath.Base(s.Path)), s.args...), nil
	}
	name := s.Package[:strings.LastIndex(s.Package, "@")]
	dir := filepath.Join(root, "node_modules", filepath.FromSlash(name))
	program, err := findProgram(dir, s.Path)
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, "node", append([]string{program}, s.args...)...), nil
}

// findProgram returns the file of an npm package's program: the one named, else that of the package's name, else the first.
func findProgram(dir, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", err
	}
	var one struct{ Bin string }
	if json.Unmarshal(text, &one) == nil && one.Bin != "" {
		return filepath.Join(dir, one.Bin), nil
	}
	var several struct{ Bin map[string]string }
	if err := json.Unmarshal(text, &several); err != nil {
		return "", err
	}
	for _, one := range append([]string{name, filepath.Base(dir)}, slices.Sorted(maps.Keys(several.Bin))...) {
		if file, there := several.Bin[one]; there {
			return filepath.Join(dir, file), nil
		}
	}
	return "", fmt.Errorf("%s has no program", dir)
}
