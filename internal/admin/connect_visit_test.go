package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
)

// Whoever owns several accounts is sent several links, and opens them side by side.
func TestTwoLinksAreTakenInOneBrowserAtOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, mcp := protected(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b := d.as(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	b.post("/connectors", connectorForm("Mail", mcp.URL, "auth.type", "oauth2"))
	visitor := d.browser()
	var ways []string
	for _, slug := range []string{"notes", "mail"} {
		link := addressOn(t, b.post("/connectors/"+slug+"/connect-link", nil), d.server.URL+"/connect/")
		ways = append(ways, visitor.post(link, nil).Location)
	}
	for _, way := range ways {
		visitor.comesBack(visitor.agrees(way)).want(t, http.StatusOK, "Connected '")
	}
}

func TestABrowserIsRecognizedByNothingThatIsNotOurs(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, mcp := protected(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b := d.as(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	for _, value := range []string{"", "short", strings.Repeat("a", 200), strings.Repeat("!", 43)} {
		link := addressOn(t, b.post("/connectors/notes/connect-link", nil), d.server.URL+"/connect/")
		visitor := d.browser()
		visitor.header = http.Header{"Cookie": {"patchbay_connect=" + value}}
		cookie := visitor.post(link, nil).Header.Get("Set-Cookie")
		set, _, _ := strings.Cut(strings.TrimPrefix(cookie, "patchbay_connect="), ";")
		if len(set) != 43 || set == value {
			t.Errorf("with %q: %q", value, cookie)
		}
	}
}
