//go:build e2e

package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/testing/browser"
)

// TestAnEndedGrantIsReconnectedByALinkInTheBrowser has the server revoke a grant. An admin sees it and sends a
// link, which the account's owner opens in their own browser.
func TestAnEndedGrantIsReconnectedByALinkInTheBrowser(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.s.setUp(newPerson(t))
	w.connector("/mcp")
	w.connect("", "ada@example.com")
	w.as.pull("end-grants")
	w.c.must(http.StatusConflict, http.MethodPost, "/connectors/notes/sync_tools", nil)

	admin := browser.Open(t)
	signInTab(admin, w.s.base)
	admin.WaitText("main", "Notes") // needs a person
	newLooker(t, admin).at("grant-ended-home")
	admin.Go(w.s.base + "/connectors/notes/credentials")
	admin.WaitText("main", "Reconnect")
	newLooker(t, admin).at("grant-ended")
	admin.Click("form[action='/connectors/notes/connect-link'] button")
	admin.WaitText("#connect-link-title", "all agents")
	newLooker(t, admin).at("grant-ended-link")
	link := strings.TrimSpace(admin.Text(".new-key pre"))

	visitor := browser.Open(t)
	visitor.Go(link)
	visitor.WaitText("main", "Notes")
	newLooker(t, visitor).at("grant-reconnect")
	visitor.Click("main form button[type=submit]")
	w.as.agree(visitor, "ada@example.com")
	visitor.WaitPath("/connect/done")
	visitor.WaitText("main", "Connected “Notes” as ")
	newLooker(t, visitor).at("grant-reconnected")
	if credential := w.credential(""); credential["status"] != "active" || credential["error"] != nil {
		t.Errorf("the credential: %v", credential)
	}
	admin.Go(w.s.base + "/connectors/notes/credentials")
	admin.WaitText("main", "ada@example.com")
	if run := w.sync(); run["status"] != "ok" {
		t.Errorf("after reconnecting: %v", run)
	}
}
