//go:build e2e

package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"patchbay/internal/testing/browser"
)

// TestAnHTTPAPI_GetsAnAccountInTheBrowser connects an account of an HTTP API at the authorization server that its document names.
func TestAnHTTPAPI_GetsAnAccountInTheBrowser(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.s.setUp(newPerson(t))
	id := w.as.registerByHand(w.s.base + "/oauth/callback")
	api := startNotesAPI(t)
	scheme := `"token":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"` + w.as.Issuer + `/auth","tokenUrl":"` + w.as.Issuer + `/token","scopes":{"openid":"","offline_access":""}}}}`
	document := strings.Replace(notesDocument, `"token":{"type":"http","scheme":"bearer"}`, scheme, 1)
	api.document.Store(new(strings.Replace(document, `"security":[{"token":[]}]`, `"security":[{"token":["openid","offline_access"]}]`, 1)))
	tab := browser.Open(t)
	look := newLooker(t, tab)
	signInTab(tab, w.s.base)

	tab.Go(w.s.base + "/connectors/new?kind=http")
	tab.Fill("[name=url]", api.url+"/openapi.json")
	tab.Press(kb.Tab)
	tab.WaitText("#test-result", "Notes 2 has 4 operations.")
	if result := browser.Eval[string](tab, `document.querySelector("#test-result").textContent`); !strings.Contains(result, w.as.Issuer+"/token") {
		t.Errorf("the result doesn't name the token endpoint: %s", result)
	}
	tab.Click("#test-result [data-use-auth=oauth2]")
	tab.Fill("[name='auth.client_id']", id)
	look.at("api-oauth")
	tab.Click("main form button[type=submit]:not([formaction])")
	tab.WaitPath("/connectors/notes/operations")
	tab.Click(`input[name=pick][value="GET /notes"]`)
	tab.WaitText("#operations-total", "1 of 4 picked")
	tab.Click(".operations .actions button[type=submit]")
	tab.WaitText("main", "Connect")
	tab.Go(w.s.base + "/connectors/notes/credentials")
	tab.Click("form[action='/connectors/notes/connect'] button")
	w.as.agree(tab, "ada@example.com")
	tab.WaitText("body", "Connected “Notes” as ")
	look.at("api-connected")

	tab.Go(w.s.base + "/connectors/notes/tools/listNotes")
	tab.Click("#try button[type=submit]:not([name])")
	tab.WaitText("#tool", "GET /v2/notes")
	tab.WaitText("#tool", "Bearer [redacted]")
	sent, issued := *api.authorization.Load(), w.as.issued()["access_token"]
	if !slices.ContainsFunc(issued, func(token string) bool { return sent == "Bearer "+token }) {
		t.Errorf("%d access tokens were issued, and the API got %q", len(issued), sent)
	}
	if credential := w.credential(""); credential["status"] != "active" {
		t.Errorf("the credential: %v", credential)
	}
}
