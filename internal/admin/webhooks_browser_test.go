//go:build e2e

package admin_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
)

func TestWebhook_IsAddedInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	status := http.StatusNoContent
	tab := d.openSignedInTab(connectors.RoleAdmin)
	for _, script := range []bool{true, false} {
		tab.Scripts(script)
		tab.Go(d.base + "/webhooks")
		tab.Click("main a[href='/webhooks/new']")
		tab.Fill("[name=name]", "Chat")
		tab.Fill("[name=url]", startReceiver(t, &status))
		tab.Click("[name=events][value=chosen]")
		tab.Click("[value='approval.waiting']")
		if script {
			checkAppearanceOf(t, tab, "webhook-new")
		}
		tab.Click(".form button[type=submit]")
		tab.WaitText("main", "Secret of “Chat”")
		tab.Click("form[action$='/test'] button")
		tab.WaitText("main", "Test delivered in ")
		if script {
			checkAppearanceOf(t, tab, "webhook")
			tab.Go(d.base + "/webhooks")
			checkAppearanceOf(t, tab, "webhooks")
			tab.Click("main table a[href^='/webhooks/']")
			tab.WaitText("main", "Delivered")
		}
		tab.Click("[popovertarget=delete]")
		tab.Click("form[action$='/delete'] button[type=submit]")
		tab.WaitText("main", "Webhook deleted.")
	}
}
