//go:build e2e

package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The clients of three official SDKs, in each era that they speak, and the inspector find a tool in a lean list and call it.
func TestClientsWorkThroughALeanList(t *testing.T) {
	t.Parallel()
	needPeers(t)
	c := admin(t)
	g := c.admit(map[string]*toolbox{"box": newToolbox(t, &sdk.StreamableHTTPOptions{Stateless: true})})
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/robin", object{"tool_list": "lean"})
	urls, want := []string{g.base + "/mcp"}, []string{"call_destroying", "call_reading", "call_writing", "describe_tools", "find_tools"}
	read := slices.Concat(readByTypeScript(t, g.token, urls), readByGo(t, g, urls))
	if len(read) != 5 {
		t.Fatalf("%d clients answered", len(read))
	}
	for _, r := range read {
		if r.Error != "" || !slices.Equal(slices.Sorted(slices.Values(r.Lists["tools"])), want) {
			t.Errorf("%s: %q, %s", r.Client, r.Lists["tools"], r.Error)
		}
		if len(r.Found) != 2 || r.Found[0] != "mcp_box__echo" || !strings.Contains(r.Found[1], "hello") {
			t.Errorf("%s found %q", r.Client, r.Found)
		}
	}
	if got := g.inspect(t, "", "tools/call", "--tool-name", "find_tools", "--tool-arg", "words=echo a text"); !strings.Contains(got, "mcp_box__echo") {
		t.Errorf("it finds %s", got)
	}
	called := g.inspect(t, "", "tools/call", "--tool-name", "call_destroying", "--tool-arg", "name=mcp_box__echo", "--tool-arg", `arguments={"text":"hello"}`)
	if !strings.Contains(called, "hello") {
		t.Errorf("it is called: %s", called)
	}
}
