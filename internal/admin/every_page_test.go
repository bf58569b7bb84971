package admin_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
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
	"/connectors/{id}/icon":                    "a picture",
	"/oauth/callback":                          "an authorization server redirects there",
	"/login/sso/callback":                      "a provider redirects there",
	"/oauth/authorize":                         "a program redirects there; looked at in TestAuthorize_Page",
	"/setup":                                   "there is an owner",
	"/setup/invitation":                        "it wants the link of an invitation",
	"/unsent":                                  "it wants the form of an ended session; looked at in TestUnsent_FormIsSentAfterSignIn",
	"/login/code":                              "a sign-in is half done; looked at below",
	"/login":                                   "whoever is signed in is sent on; looked at below",
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
