//go:build e2e

package admin_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"

	chromium "patchbay/internal/testing/browser"
)

// TestEveryPageIsForEveryone checks the accessibility of each page: axe in both themes, 360 and 2560 px, 200 % zoom,
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
	tab.Size(2560, 1300)
	tab.Fits()
	tab.Size(360, 740)
	tab.Fits()
	tab.Size(1280, 900)
}
