//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"patchbay/internal/testing/browser"
)

// authorizationServer is npm's oidc-provider with an MCP server behind it: peers/authorization-server.mjs.
type authorizationServer struct {
	t      *testing.T
	Issuer string
	Origin string // of the MCP servers /mcp and /open/mcp
}

func startAuthorizationServer(t *testing.T) *authorizationServer {
	t.Helper()
	as := &authorizationServer{t: t}
	line := startPeer(t, nil, "authorization-server.mjs").line(`{"issuer":`)
	if err := json.Unmarshal([]byte(line), as); err != nil {
		t.Fatal(err)
	}
	return as
}

// counts are the requests so far, by grant type or route; held and live_refresh_tokens are of this moment.
func (as *authorizationServer) counts() map[string]int {
	as.t.Helper()
	return lever[map[string]int](as, http.MethodGet, "counts")
}

// issued is every secret that was given out, by kind.
func (as *authorizationServer) issued() map[string][]string {
	as.t.Helper()
	return lever[map[string][]string](as, http.MethodGet, "issued")
}

func lever[T any](as *authorizationServer, method, name string) T {
	as.t.Helper()
	req, err := http.NewRequestWithContext(as.t.Context(), method, as.Origin+"/admin/"+name, nil)
	if err != nil {
		as.t.Fatal(err)
	}
	res, err := localClient.Do(req)
	if err != nil {
		as.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer T
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK {
		as.t.Fatalf("%s %s: %d, %v", method, name, res.StatusCode, err)
	}
	return answer
}

// tokenRequests are all that the token endpoint answered.
func (as *authorizationServer) tokenRequests() int {
	as.t.Helper()
	counts := as.counts()
	return counts["authorization_code"] + counts["refresh_token"]
}

// pull pulls a lever of peers/admin.mjs.
func (as *authorizationServer) pull(name string) {
	as.t.Helper()
	lever[object](as, http.MethodPost, name)
}

// live says how many seconds access tokens live from now on.
func (as *authorizationServer) live(seconds int) {
	as.t.Helper()
	as.pull(fmt.Sprintf("life?seconds=%d", seconds))
}

// agree signs in at the authorization server's page, where the tab is, and consents.
func (as *authorizationServer) agree(tab *browser.Tab, account string) {
	as.t.Helper()
	tab.WaitText("h1", "Sign in")
	tab.Fill("[name=login]", account)
	tab.Click("#login button")
	tab.WaitText("h1", "Allow access")
	tab.Click("#confirm button")
}
