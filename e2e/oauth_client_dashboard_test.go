//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/testing/browser"
)

// registerByHand registers a client on an authorization server's own pages, and returns its id.
func (as *authorizationServer) registerByHand(redirect string) string {
	as.t.Helper()
	body, err := json.Marshal(object{
		"redirect_uris": []string{redirect}, "application_type": "native", "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code", "refresh_token"}, "client_name": "By hand",
	})
	if err != nil {
		as.t.Fatal(err)
	}
	res, err := localClient.Post(as.Issuer+"/reg", "application/json", bytes.NewReader(body))
	if err != nil {
		as.t.Fatal(err)
	}
	defer res.Body.Close()
	var made struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil || made.ID == "" {
		as.t.Fatalf("registering answers %d, %v", res.StatusCode, err)
	}
	return made.ID
}

// TestAnAccountIsConnectedWithAClientIDInTheBrowser configures OAuth with a client that was registered by hand, signs in at the
// authorization server and comes back. The tokens are in the database, sealed.
func TestAnAccountIsConnectedWithAClientIDInTheBrowser(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.s.setUp(newPerson(t))
	id := w.as.registerByHand(w.s.base + "/oauth/callback")
	tab := browser.Open(t)
	look := newLooker(t, tab)
	signInTab(tab, w.s.base)

	tab.Go(w.s.base + "/connectors/new")
	tab.Fill("[name=name]", "Notes")
	tab.Fill("[name=url]", w.as.Origin+"/mcp")
	tab.Choose("[name='auth.type']", "oauth2")
	browser.Eval[bool](tab, `(document.querySelector("[name='auth.client_id']").closest("details").open = true)`)
	tab.Fill("[name='auth.client_id']", id)
	look.at("oauth-client-id")
	tab.Click("main form button[type=submit]:not([formaction])")
	tab.WaitPath("/connectors/notes/credentials")
	tab.Click("form[action='/connectors/notes/connect'] button")
	w.as.agree(tab, "ada@example.com")
	tab.WaitText("body", "Connected “Notes” as ")
	tab.WaitText("body", "Discovered ")
	tab.WaitText("main", "ada@example.com")
	look.at("oauth-client-id-connected")

	issued := w.as.issued()
	stored := dump(t, w.database)
	tokens := 0
	for kind, secrets := range issued {
		for _, token := range secrets {
			tokens++
			for table, rows := range stored {
				if strings.Contains(rows, token) {
					t.Errorf("a %s is in %s as it was issued", kind, table)
				}
			}
		}
	}
	if tokens == 0 || len(issued["client_secret"]) > 0 {
		t.Errorf("%d secrets were issued, %d of a client", tokens, len(issued["client_secret"]))
	}
	if credential := w.credential(""); credential["status"] != "active" {
		t.Errorf("the credential: %v", credential)
	}
}
