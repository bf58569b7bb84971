//go:build e2e

package admin_test

import (
	"encoding/json"
	"testing"

	"patchbay/internal/connectors"

	chromium "patchbay/internal/testing/browser"
)

func TestTheCatalogIsUsedInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/catalog")
	tab.WaitText("#catalog", "Stripe")
	checkAppearanceOf(t, tab, "catalog")
	tab.Fill("[name=q]", "issues cycles")
	tab.WaitText("#catalog", "1 server")
	tab.Click("form[action='/catalog/linear/add'] button")
	tab.WaitPath("/connectors/linear/credentials")
	tab.WaitText("#notice", "Added “Linear”. Connect it.")
	tab.Go(d.base + "/catalog?category=projects")
	tab.WaitText(".added", "Added")
	checkAppearanceOf(t, tab, "catalog-added")

	tab.Go(d.base + "/catalog/registry")
	checkAppearanceOf(t, tab, "registry")
	tab.Click("details.fold summary")
	pasted, err := json.Marshal(registryDocument(listedServer("com.example/weather", weatherRemote), listedServer("com.example/evil", `{"type": "sse", "url": "file:///etc/passwd"}`)))
	if err != nil {
		t.Fatal(err)
	}
	chromium.Eval[bool](tab, `(document.querySelector("[name=document]").value = `+string(pasted)+`) !== ""`)
	tab.Click("form[action='/catalog/registry/preview'] button[type=submit]")
	tab.WaitText(".listing", "com.example/weather")
	checkAppearanceOf(t, tab, "registry-preview")
	tab.Click("[name=chosen]")
	tab.Click("form[action='/catalog/registry'] button[type=submit]")
	tab.WaitText("main", "1 created")
	checkAppearanceOf(t, tab, "registry-added")
}
