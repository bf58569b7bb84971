package admin_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
)

// noPages are the GET routes that respond with no page, or redirect. A new route is a page unless it has a row
// here.
var noPages = map[string]string{
	"/events":            "a stream",
	"/connectors/export": "a file",
	"/account/connections/{agent}/{connector}": "it is a member's own; looked at in TestOwnAccount_MemberConnects",
	"/audit/export.jsonl":                      "a file, of what its address names",
	"/audit/export.sig":                        "a file, of what its address names",
	"/calls/{id}/pictures/{n}":                 "a picture",
	"/oauth/callback":                          "an authorization server sends somebody there",
	"/login/sso/callback":                      "a provider sends somebody there",
	"/oauth/authorize":                         "a program sends somebody there; looked at in TestAuthorize_Page",
	"/setup":                                   "there is an owner",
	"/setup/invitation":                        "it wants the link of an invitation",
	"/login/code":                              "a sign-in is half done; looked at below",
	"/login":                                   "whoever is signed in is sent on; looked at below",
}

// TestEveryPageIsForEveryone checks the accessibility of each page: axe in both themes, 360 px, 200 % zoom,
// reduced motion, the Tab key alone, and layout shift while loading.
func TestEveryPageIsForEveryone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner, ids := d.signInAsRole(connectors.RoleOwner), d.ownThings()
	ids.link = d.createConnectLink(owner)
	tab := d.openSignedInTab(connectors.RoleOwner)
	for path, how := range d.openPages(ids) {
		if p := owner.get(path); p.Status != how {
			t.Errorf("%s answers %d", path, p.Status)
		}
		checkForEveryone(t, tab, d.base+path)
		if how != http.StatusOK {
			tab.Forgive("404")
		}
	}
	checkForEveryone(t, chromium.Open(t), d.base+"/login")
}

// openPages are the pages' addresses with their statuses.
func (d *dashboard) openPages(ids things) map[string]int {
	d.t.Helper()
	pages := map[string]int{"/connectors/nowhere": http.StatusNotFound}
	for _, route := range d.routes() {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || noPages[pattern] != "" || strings.HasPrefix(pattern, "/exports/") {
			continue
		}
		pages[ids.fill(pattern)] = http.StatusOK
	}
	if len(pages) < 40 {
		d.t.Fatalf("only %d pages: %v", len(pages), slices.Sorted(maps.Keys(pages)))
	}
	return pages
}

// checkForEveryone checks one page.
func checkForEveryone(t *testing.T, tab *chromium.Tab, address string) {
	t.Helper()
	tab.Go(address)
	tab.Stays()
	tab.Accessible()
	tab.Rests()
	tab.Tabs()
	tab.Size(640, 450) // 1280 by 900 at 200 %
	tab.Fits()
	tab.Size(360, 740)
	tab.Fits()
	tab.Size(1280, 900)
}
