package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
)

// The owner of several accounts may open several links side by side.
func TestConnectCookie_TwoLinksInOneBrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	b.post("/connectors", connectorForm("Mail", mcp.URL, "auth.type", "oauth2"))
	visitor := d.browser()
	var ways []string
	for _, slug := range []string{"notes", "mail"} {
		link := findAddress(t, b.post("/connectors/"+slug+"/connect-link", nil), d.server.URL+"/connect/")
		ways = append(ways, visitor.post(link, nil).Location)
	}
	for _, way := range ways {
		visitor.followCallback(visitor.followConsent(way)).want(t, http.StatusOK, "Connected “")
	}
}

func TestConnectCookie_ForeignValueIsReplaced(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	for _, value := range []string{"", "short", strings.Repeat("a", 200), strings.Repeat("!", 43)} {
		link := findAddress(t, b.post("/connectors/notes/connect-link", nil), d.server.URL+"/connect/")
		visitor := d.browser()
		visitor.header = http.Header{"Cookie": {"patchbay_connect=" + value}}
		cookie := visitor.post(link, nil).Header.Get("Set-Cookie")
		set, _, _ := strings.Cut(strings.TrimPrefix(cookie, "patchbay_connect="), ";")
		if len(set) != 43 || set == value {
			t.Errorf("with %q: %q", value, cookie)
		}
	}
}
