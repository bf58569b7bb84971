//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The MCP project's inspector, on the command line, finds everything behind the gateway.
func TestTheInspectorWorksThroughTheGateway(t *testing.T) {
	t.Parallel()
	needPeers(t)
	boxes := map[string]*toolbox{
		"newest": newToolbox(t, &sdk.StreamableHTTPOptions{Stateless: true}), "sessions": newToolbox(t, &sdk.StreamableHTTPOptions{}),
	}
	g := admin(t).admit(boxes)
	for name, test := range map[string]struct {
		path string
		args []string
		want string
	}{
		"tools":            {"", []string{"tools/list"}, "mcp_newest__echo"},
		"a tool":           {"", []string{"tools/call", "--tool-name", "mcp_sessions__echo", "--tool-arg", "text=hello"}, `{\"text\":\"hello\"}`},
		"a tool's failure": {"/newest", []string{"tools/call", "--tool-name", "fail"}, "The printer is on fire."},
		"prompts":          {"", []string{"prompts/list"}, "mcp_sessions__greet"},
		"a prompt":         {"/sessions", []string{"prompts/get", "--prompt-name", "greet", "--prompt-args", "name=Ann"}, "Greet Ann."},
		"resources":        {"/sessions", []string{"resources/list"}, "file:///notes.txt"},
		"a resource":       {"", []string{"resources/read", "--uri", "patchbay+newest:file:///notes.txt"}, "contents of file:///notes.txt"},
		"templates":        {"", []string{"resources/templates/list"}, "patchbay+newest:file:///{name}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := g.inspect(t, test.path, test.args...); !strings.Contains(got, test.want) {
				t.Errorf("%q is not in\n%s", test.want, got)
			}
		})
	}
}

// inspect runs the inspector and returns what it prints.
func (g gate) inspect(t *testing.T, path string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const inspector = "peers/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	cmd := exec.CommandContext(ctx, node(), append([]string{
		inspector, "--cli", g.base + "/mcp" + path, "--transport", "http", "--header", "Authorization: Bearer " + g.token, "--method",
	}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil && args[0] != "tools/call" { // it ends with an error where a tool does
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}
