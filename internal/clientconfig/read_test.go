package clientconfig_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// readEntries returns a document's entries; the document must be valid.
func readEntries(t *testing.T, document string) []clientconfig.Entry {
	t.Helper()
	entries, err := clientconfig.Read([]byte(document))
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return entries
}

// readOne returns the only entry of a document, which must be accepted.
func readOne(t *testing.T, document string) clientconfig.Entry {
	t.Helper()
	entries := readEntries(t, document)
	if len(entries) != 1 || len(entries[0].Problems) > 0 {
		t.Fatalf("%s: %+v", document, entries)
	}
	return entries[0]
}

func TestRead_EveryShape(t *testing.T) {
	t.Parallel()
	const server = `{"url": "https://mcp.linear.app/mcp"}`
	for name, document := range map[string]string{
		"mcpServers":          `{"mcpServers": {"linear": ` + server + `}}`,
		"VS Code":             `{"inputs": [{"id": "x", "type": "promptString"}], "servers": {"linear": {"type": "http", "url": "https://mcp.linear.app/mcp"}}}`,
		"VS Code's settings":  `{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"linear": ` + server + `}}}`,
		"beside settings":     `{"theme": "dark", "mcpServers": {"linear": ` + server + `}}`,
		"an array":            `[{"name": "linear", "url": "https://mcp.linear.app/mcp"}]`,
		"mcpServers an array": `{"mcpServers": [{"name": "linear", "url": "https://mcp.linear.app/mcp"}]}`,
		"one":                 `{"name": "linear", "url": "https://mcp.linear.app/mcp"}`,
		"no envelope":         `{"$schema": "https://x.example/s.json", "linear": ` + server + `}`,
		"no braces":           `"linear": ` + server + `,`,
		"a fragment":          `"mcpServers": {"linear": ` + server + `}`,
		"Markdown":            "```json\n{\"mcpServers\": {\"linear\": " + server + "}}\n```\n",
		"a byte order mark":   "\ufeff" + `{"mcpServers": {"linear": ` + server + `}}`,
		"Windsurf":            `{"mcpServers": {"linear": {"serverUrl": "https://mcp.linear.app/mcp", "disabledTools": ["x"]}}}`,
		"Gemini":              `{"mcpServers": {"linear": {"httpUrl": "https://mcp.linear.app/mcp", "url": "https://mcp.linear.app/sse", "trust": true}}}`,
		"Cline":               `{"mcpServers": {"linear": {"type": "streamableHttp", "url": "https://mcp.linear.app/mcp", "autoApprove": []}}}`,
		"Roo":                 `{"mcpServers": {"linear": {"type": "streamable-http", "url": "https://mcp.linear.app/mcp", "alwaysAllow": []}}}`,
		"mcp-remote":          `{"mcpServers": {"linear": {"command": "npx", "args": ["-y", "mcp-remote@latest", "https://mcp.linear.app/mcp", "--allow-http"]}}}`,
		"comments":            "{\n// one\n\"mcpServers\": {/* two */ \"linear\": {\"url\": \"https://mcp.linear.app/mcp\", \"comment\": \"//\",},},\n}",
	} {
		e := readOne(t, document)
		d := e.Draft()
		if e.Key != "linear" || e.Slug != "linear" || d.Name != "linear" || d.URL != "https://mcp.linear.app/mcp" || d.Transport != connectors.TransportStreamableHTTP {
			t.Errorf("%s: %+v", name, d)
		}
		if problems := d.Normalized().Validate(); len(problems) > 0 || d.Auth.Type != connectors.AuthNone {
			t.Errorf("%s: %v, %v", name, problems, d.Auth)
		}
	}
}

func TestRead_EntryHasLine(t *testing.T) {
	t.Parallel()
	entries := readEntries(t, "// mine\n{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"https://a.example/\"},\n\n    /* two\n    lines */\n    \"b\":\n      {\"url\": \"https://b.example/\"}, \"c\": {\"url\": \"https://c.example/\"},\n  },\n}")
	var at []int
	for _, e := range entries {
		at = append(at, e.Line)
	}
	if diff := cmp.Diff([]int{4, 8, 9}, at); diff != "" {
		t.Error(diff)
	}
}

func TestRead_InvalidDocumentHasLine(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		"":                             "The document is empty.",
		" // nothing\n":                "The document is empty.",
		"{\n \"a\": {\n":               "Line 2: unexpected end. A brace, bracket or quote is missing.",
		"{\n\"a\": sekret\n}":          "Line 2: invalid JSON.",
		"{\"a\": {}}\n{}":              "Line 2: invalid JSON.",
		"{\n\"a\": {\"url\": \"x}}\n}": "Line 2: invalid JSON.",
		"\xff\xfe{}":                   "Not UTF-8 text.",
		"42":                           "Use an mcpServers object, an array of servers, or one server.",
		`{"mcpServers": 5}`:            "mcpServers must be an array, or an object of servers.",
		`{"a": {"b": 1}}`:              "No MCP server found: no mcpServers object, url or command.",
		`"a"`:                          "Line 1: invalid JSON.",
	} {
		_, err := clientconfig.Read([]byte(document))
		if err == nil || !strings.HasPrefix(fault.As(err).Message, want) || strings.Contains(err.Error(), "sekret") {
			t.Errorf("%q: %v, want %s", document, err, want)
		}
	}
	big := `{"mcpServers": {"a": {"url": "` + strings.Repeat("x", clientconfig.MaxBytes) + `"}}}`
	if _, err := clientconfig.Read([]byte(big)); !fault.Is(err, fault.TooLarge) {
		t.Errorf("more than a MiB: %v", err)
	}
	var many strings.Builder
	for i := range clientconfig.MaxEntries + 1 {
		fmt.Fprintf(&many, `"s%d": {"url": "https://x.example/%d"},`, i, i)
	}
	if _, err := clientconfig.Read([]byte(many.String())); !fault.Is(err, fault.Invalid) {
		t.Errorf("too many: %v", err)
	}
	if entries := readEntries(t, `{"mcpServers": {}}`); len(entries) != 0 {
		t.Errorf("an empty list: %v", entries)
	}
}

func TestRead_EntriesAreRefusedSeparately(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		`5`:                                  ": Must be an object with a url or command.",
		`{}`:                                 "url: Add a url or command.",
		`{"url": 5}`:                         "url: Must be a string.",
		`{"url": "https://${HOST}/m"}`:       "url: Replace ${HOST} with the address.",
		`{"url": "u", "command": "c"}`:       "type: Has both url and command.",
		`{"url": "u", "type": "ws"}`:         "type: Must be http, sse or stdio.",
		`{"type": "stdio"}`:                  "command: Enter a command.",
		`{"command": "${HOME}/c"}`:           "command: Replace ${HOME} in the command with its value.",
		`{"command": "c", "args": [{}]}`:     "args: Must be an array of strings.",
		`{"command": "c", "env": []}`:        "env: Must be an object of strings.",
		`{"url": "u", "headers": 1}`:         "headers: Must be an object of strings.",
		`{"url": "u", "headers": {"A": {}}}`: "headers.A: Header values must be strings.",
		`{"url": "u", "headers": {"Cookie": "sekret"}}`:                                          "headers.Cookie: Patchbay doesn't send cookies.",
		`{"url": "u", "headers": {"Authorization": "Basic ???"}}`:                                "headers.Authorization: After Basic, use base64 of user:password",
		`{"url": "u", "headers": {"Authorization": "Bearer sekret", "X-Api-Key": "sekret"}}`:     "headers.X-Api-Key: Looks like a second secret besides Authorization.",
		`{"url": "u", "auth": {"type": "magic"}}`:                                                "auth.type: Use one of none,",
		`{"url": "u", "auth": {"type": "bearer", "token": {"sekret": 1}}}`:                       "auth: Unsupported authentication.",
		`{"url": "u", "auth": {"type": "basic"}, "headers": {"Authorization": "Bearer sekret"}}`: "auth: This conflicts with the headers.",
		`{"url": "u", "disabled": "no"}`:                                                         "disabled: Must be true or false.",
		`{"url": "u", "timeout": "long"}`:                                                        "timeout: Must be a number: seconds, or milliseconds from 1000.",
		`{"url": "u", "timeout_ms": 1.5}`:                                                        "timeout_ms: Must be a whole number.",
		`{"url": "u", "retry_attempts": -1}`:                                                     "retry_attempts: Must be a whole number.",
		`{"url": "u", "name": 7}`:                                                                "name: Must be a string.",
	} {
		entries := readEntries(t, `{"mcpServers": {"bad": `+server+`, "good": {"url": "https://x.example/"}}}`)
		if len(entries) != 2 || len(entries[0].Problems) == 0 || len(entries[1].Problems) > 0 {
			t.Errorf("%s: %+v", server, entries)
			continue
		}
		var said []string
		for _, p := range entries[0].Problems {
			said = append(said, p.Location+": "+p.Message)
		}
		all := strings.Join(said, "\n")
		if !strings.HasPrefix(all, want) || strings.Contains(all, "sekret") {
			t.Errorf("%s says %q, want %q", server, all, want)
		}
	}
}

func TestRead_EqualNamesAreRefused(t *testing.T) {
	t.Parallel()
	entries := readEntries(t, `{"mcpServers": {"a": {"url": "https://a.example/"}, "a": {"url": "https://b.example/"}, "A": {"url": "https://c.example/"}}}`)
	if len(entries) != 3 || len(entries[0].Problems) != 0 || len(entries[1].Problems) != 1 || len(entries[2].Problems) != 1 {
		t.Fatalf("%+v", entries)
	}
	if got := entries[1].Problems[0].Message; got != `Duplicate "a": only the first one is used.` {
		t.Error(got)
	}
	if got := entries[2].Problems[0].Message; !strings.HasPrefix(got, `Another entry has the slug "a" too.`) {
		t.Error(got)
	}
}

func TestRead_UnnamedServerUsesAddress(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`{"url": "https://mcp.linear.app/mcp"}`:                             "mcp.linear.app/mcp mcp-linear-app-mcp",
		`{"url": "http://localhost:8931/sse/"}`:                             "localhost:8931/sse localhost-8931-sse",
		`{"url": "https://n.example/s/0123456789abcdef0/mcp"}`:              "n.example/s/mcp n-example-s-mcp",
		`{"url": "https://n.example/?key=s3cret"}`:                          "n.example n-example",
		`{"command": ["npx", "-y", "@scope/server-files@1.2", "/srv"]}`:     "npx npx",
		`{"command": ["npx", "-y", "@scope/server-files", "/srv"]}`:         "npx @scope/server-files npx-scope-server-files",
		`{"command": "node", "args": ["/srv/app/index.js", "s3cret"]}`:      "node index.js node-index-js",
		`{"command": "/usr/bin/pg-mcp", "args": ["postgres://u:s3cret@h"]}`: "pg-mcp pg-mcp",
		`{"mcpServers": {"日本": {"url": "https://mcp.jp.example/"}}}`:        "日本 mcp-jp-example",
		`{"mcpServers": {"new": {"url": "https://n.example/"}}}`:            "new new-n-example",
		`{"command": "/usr/bin/server"}`:                                    "server server",
		`{"mcpServers": {"x": {"slug": "y", "url": "https://n.example/"}}}`: "x y",
	} {
		if e := readOne(t, document); e.Key+" "+e.Slug != want {
			t.Errorf("%s: %s %s, want %s", document, e.Key, e.Slug, want)
		}
	}
}

// The forms of ruby-mcp-client.
func TestRead_JoinsEndpoint(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]string{
		`"type": "http", "url": "https://api.example.com", "endpoint": "/mcp"`:                     "https://api.example.com/mcp",
		`"type": "http", "base_url": "https://api.example.com", "endpoint": "rpc"`:                 "https://api.example.com/rpc",
		`"type": "streamable_http", "base_url": "https://api.example.com/v1/", "endpoint": "/mcp"`: "https://api.example.com/mcp",
		`"base_url": "https://api.example.com/?team=a", "endpoint": "/mcp?x=1"`:                    "https://api.example.com/mcp?x=1",
		`"base_url": "https://mcp.zapier.com/api/mcp/s/ID/mcp"`:                                    "https://mcp.zapier.com/api/mcp/s/ID/mcp",
		`"type": "sse", "base_url": "https://api.example.com"`:                                     "https://api.example.com",
		`"type": "http", "url": "https://api.example.com"`:                                         "https://api.example.com",
		`"server_url": "https://api.example.com/mcp"`:                                              "https://api.example.com/mcp",
	} {
		if e := readOne(t, `{"mcpServers": {"api": {`+fields+`}}}`); e.Draft().URL != want || len(e.Notices) > 0 {
			t.Errorf("%s: %s %v", fields, e.Draft().URL, e.Notices)
		}
	}
	e := readOne(t, `{"mcpServers": {"api": {"type": "http", "base_url": "https://api.example.com/"}}}`)
	if e.Draft().URL != "https://api.example.com/rpc" || len(e.Notices) != 1 || !strings.Contains(e.Notices[0], "/rpc") {
		t.Errorf("without an endpoint: %s %v", e.Draft().URL, e.Notices)
	}
	for _, endpoint := range []string{"https://evil.example/mcp", "//evil.example/mcp", "%zz"} {
		entries := readEntries(t, `[{"name": "api", "url": "https://api.example.com", "endpoint": "`+endpoint+`"}]`)
		if len(entries[0].Problems) != 1 || entries[0].Problems[0].Location != "endpoint" {
			t.Errorf("%s: %+v", endpoint, entries[0].Problems)
		}
	}
}

func TestRead_UnnamedServersOfOneHost(t *testing.T) {
	t.Parallel()
	entries := readEntries(t, `[{"url": "http://localhost:8931/sse"}, {"url": "http://localhost:9000/sse"}, {"url": "http://localhost:9000/mcp"}]`)
	for i, want := range []string{"localhost-8931-sse", "localhost-9000-sse", "localhost-9000-mcp"} {
		if e := entries[i]; e.Slug != want || !e.Unnamed || len(e.Problems) > 0 {
			t.Errorf("%+v, want %s", e, want)
		}
	}
}

func TestRead_SplitsCommandLine(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		`npx -y @modelcontextprotocol/server-filesystem /home/user`: {"npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/user"},
		`node 'my server.js' \"a b\"`:                               {"node", "my server.js", "a b"},
		` /usr/bin/server `:                                         {"/usr/bin/server"},
		`C:\\Program Files\\server.exe`:                             {`C:\Program Files\server.exe`},
	} {
		e := readOne(t, `{"mcpServers": {"files": {"command": "`+command+`"}}}`)
		c := e.Draft().Command
		if diff := cmp.Diff(want, append([]string{c.Path}, c.Args...)); diff != "" || len(e.Notices) != min(len(c.Args), 1) {
			t.Errorf("%s: %v\n%s", command, e.Notices, diff)
		}
	}
	e := readOne(t, `{"mcpServers": {"files": {"command": "/opt/my server/run", "args": ["x"]}}}`)
	if c := e.Draft().Command; c.Path != "/opt/my server/run" || len(c.Args) != 1 {
		t.Errorf("with args it is a path: %+v", c)
	}
	entries := readEntries(t, `{"mcpServers": {"files": {"command": "sh -c 'x"}}}`)
	if p := entries[0].Problems; len(p) == 0 || p[0].Location != "command" || strings.Contains(p[0].Message, "sh -c") {
		t.Errorf("%+v", p)
	}
}

func TestRead_Settings(t *testing.T) {
	t.Parallel()
	got := readOne(t, `{"mcpServers": {"l": {
		"type": "http", "transport": "http", "url": " https://l.example/mcp ", "name": "Linear", "description": "Issues", "disabled": true,
		"timeout_ms": 5000, "retry_attempts": 0, "sync_interval_s": 60, "credential_mode": "per_agent", "tool_changes": "hold_all", "listen": "off", "calls_per_minute": 60,
		"max_definition_age_s": 60, "session_per_agent": false, "retry_backoff": 1.5, "open_timeout_s": 5, "max_response_bytes": 100000, "sse_max_reconnects": 20, "methods": ["acme/*"],
		"headers": {"X-Team": "${TEAM:-eu}", "X-Build": 7, "Accept": "application/json", "X-Left": "${LEFT}", "X-None": null},
		"auth": {"type": "oauth2", "client_id": "c-1", "scopes": ["a", "b"], "resource": ""}, "comment": {"any": "thing"}
	}}}`)
	empty := ""
	want := connectors.Draft{
		Settings: connectors.Settings{Name: "Linear", Slug: "l", Description: "Issues", Transport: connectors.TransportHTTP, URL: "https://l.example/mcp",
			Headers: map[string]string{"X-Team": "eu", "X-Build": "7"}, CredentialMode: connectors.CredentialPerAgent,
			Auth: connectors.Auth{Type: connectors.AuthOAuth2}, OAuth: connectors.OAuthSettings{ClientID: "c-1", Scopes: []string{"a", "b"}, Resource: &empty},
			Timeout: 5 * time.Second, SyncInterval: time.Minute, ToolChanges: connectors.ToolChangesHoldAll, Listen: connectors.ListenOff, CallsPerMinute: 60,
			DefinitionAge: time.Minute, RetryBackoff: 1500 * time.Millisecond, ConnectTimeout: 5 * time.Second, ResponseBytes: 100_000, Reconnects: 20, Methods: []string{"acme/*"}},
	}
	if diff := cmp.Diff(want, got.Draft()); diff != "" {
		t.Error(diff)
	}
	notices := []string{"Header Accept left out: Patchbay sets it.", "Header X-Left left out: its value is ${LEFT}."}
	if diff := cmp.Diff(notices, got.Notices); diff != "" {
		t.Error(diff)
	}
}

func TestRead_TimeoutUnitsOfClients(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[string]time.Duration{"60": time.Minute, "30000": 30 * time.Second, "600000": 5 * time.Minute, "900": 5 * time.Minute} {
		if d := readOne(t, `{"url": "https://x.example/", "timeout": `+timeout+`}`).Draft(); d.Timeout != want {
			t.Errorf("%s is %s, want %s", timeout, d.Timeout, want)
		}
	}
}

func TestRead_MisleadingNameIsRefusedAndEscaped(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]string{
		"a\u202eraenil":    `a\u202eraenil`,
		"line\u200bar":     `line\u200bar`,
		"linear\U000e0041": `linear\udb40\udc41`,
		"linear\u3164":     `linear\u3164`,
	} {
		for _, document := range []string{
			`{"mcpServers": {"` + name + `": {"url": "https://mcp.linear.app/mcp"}}}`,
			`[{"name": "` + name + `", "url": "https://mcp.linear.app/mcp"}]`,
		} {
			entries := readEntries(t, document)
			if e := entries[0]; e.Key != shown || len(e.Problems) != 1 || e.Problems[0].Location != "name" {
				t.Errorf("%q is shown as %s: %+v", name, e.Key, e.Problems)
			}
		}
	}
	for _, name := range []string{"👩‍🚀", "نرم\u200cافزار", "線形"} {
		if e := readOne(t, `{"mcpServers": {"`+name+`": {"url": "https://mcp.linear.app/mcp"}}}`); e.Key != name {
			t.Errorf("%q became %q", name, e.Key)
		}
	}
	if e := readEntries(t, `[{"url": "https://mcp.\u202elinear.app/mcp"}]`)[0]; strings.Contains(e.Address(), "\u202e") {
		t.Errorf("the address is %q", e.Address())
	}
}
