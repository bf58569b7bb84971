//go:build e2e && interop

package e2e_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

const oauthTable = "interop/oauth.txt"

// protectedServers ask for a token, with what their package has for it: servers/oauth-….mjs.
var protectedServers = []interopServer{
	{slug: "fastmcp", name: "fastmcp"},
	{slug: "mcp-handler", name: "mcp-handler"},
	{slug: "ts-v1", name: "@modelcontextprotocol/sdk"},
}

// TestProtectedServersTakeTokens connects each server from its address alone, with a real authorization server of another origin, calls a
// tool, and calls it again after the token has expired.
func TestProtectedServersTakeTokens(t *testing.T) {
	t.Parallel()
	needInterop(t)
	var slugs []string
	for _, s := range protectedServers {
		slugs = append(slugs, s.slug)
	}
	wantRowsOf(t, oauthTable, slugs)
	for _, s := range protectedServers {
		t.Run(s.slug, func(t *testing.T) {
			t.Parallel()
			w, port := newConnecting(t), freePort(t)
			w.as.live(5)
			address := startOnPort(t, exec.Command(node(), "interop/servers/oauth-"+s.slug+".mjs", fmt.Sprint(port), w.as.Issuer), port) + "/mcp"
			w.c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
				"name": "Notes", "url": address, "auth": object{"type": "oauth2"}, "sync_interval_s": 0, "listen": "off",
			})
			w.connect("", "ann@example.com")
			w.sync()
			through := openStreamable(t, false, w.s.base+"/mcp/notes", w.c.hire("robin", "notes").token)
			wantSum := func(when string) {
				t.Helper()
				if got := through.callTool("add", `{"a":1,"b":2}`); !strings.Contains(got, `"text":"3"`) {
					t.Errorf("%s: %s", when, got)
				}
			}
			wantSum("with the first token")
			w.expired("")
			before := w.as.counts()["refresh_token"]
			wantSum("after it expired")
			if w.as.counts()["refresh_token"] == before {
				t.Error("the token was not refreshed")
			}
			wantRow(t, oauthTable, s.slug, s.name, s.version(t), len(w.c.tools("notes")), "by its address", "refreshed")
		})
	}
}
