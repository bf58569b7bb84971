//go:build e2e

package admin_test

import (
	"os"
	"path/filepath"
	"testing"

	"patchbay/internal/connectors"
)

func TestHomeInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.WaitText("h1", "Welcome to Patchbay")
	look := func(name string) {
		t.Helper()
		dir := os.Getenv("PATCHBAY_SCREENSHOTS")
		for _, dark := range []bool{false, true} {
			tab.Dark(dark)
			tab.Accessible()
			if dir != "" {
				tab.Screenshot(filepath.Join(dir, name+map[bool]string{false: "-light.png", true: "-dark.png"}[dark]))
			}
		}
		tab.Dark(false)
		tab.Size(360, 740)
		tab.Fits()
		if dir != "" {
			tab.Screenshot(filepath.Join(dir, name+"-phone.png"))
		}
		tab.Size(1280, 900)
	}
	look("home-welcome")
	d.createNeeds()
	tab.Go(d.base + "/")
	tab.WaitText("#needs", "Stripe")
	tab.Click(".figures summary")
	tab.Size(1280, 1700) // the head lies over what is scrolled
	look("home-busy")

	a, c := d.Agent(t), d.addConnectorAt("Later", "https://later.example.com/mcp")
	call := newCall(a, c, connectors.CallPendingApproval)
	d.createWaitingCall(d.Tenant, a, c)
	tab.WaitText("#needs", call.Tool+"\n"+a.Name+" via Later")
	tab.Click("#needs a.btn")
	tab.WaitText("h1", "Approval")
}
