package admin_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

// iconPicture is a small PNG.
func (d *dashboard) iconPicture() []byte {
	d.t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		d.t.Fatal(err)
	}
	return out.Bytes()
}

func (d *dashboard) saveIcon(tenant connectors.TenantID, c connectors.ConnectorID) {
	d.t.Helper()
	icon := connectors.Icon{MediaType: "image/png", Picture: d.iconPicture()}
	if err := d.St.Tenant(tenant).Connectors().SaveIcon(d.t.Context(), c, &icon); err != nil {
		d.t.Fatal(err)
	}
}

func TestConnectorIcon_IsShownBesideTheName(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	listed, plain := d.addConnectorAt("Sentry", "https://mcp.sentry.dev/mcp"), d.addConnectorAt("Plain", "https://plain.example.com/mcp")
	d.Synced(t, c.ID, "search")
	a := d.Agent(t, func(a *connectors.Agent) { a.Slug = "support" })
	d.Grant(t, a.ID, c.ID)
	d.saveIcon(d.Tenant, c.ID)
	b := d.signInAsRole(connectors.RoleViewer)
	const address = `src="/connectors/linear/icon?v=`
	for _, path := range []string{"/connectors", "/connectors/linear", "/connectors/linear/tools", "/tools", "/agents/support/access"} {
		if p := b.get(path); strings.Count(p.Body, address) != 1 {
			t.Errorf("%s shows the icon %d times", path, strings.Count(p.Body, address))
		}
	}
	d.failSyncs(c.ID, "timeout")
	if p := b.get("/"); !strings.Contains(p.Body, address) {
		t.Error("Home does not show the icon")
	}
	d.createWaitingCall(d.Tenant, a, c)
	if p := b.get("/"); strings.Count(p.Body, address) != 2 || strings.Contains(p.Body, "/connectors//") {
		t.Errorf("with an approval, Home shows the icon %d times", strings.Count(p.Body, address))
	}
	d.createTaskCall(d.Tenant, a, c, `{"status":"working"}`)
	d.Resynced(t, c.ID, fixture.DefinitionOf("search", `{"name":"search","description":"Other."}`))
	for _, path := range []string{"/calls", "/tasks", "/approvals", "/changes?state=all", "/connectors/linear/changes", "/connectors/linear/calls", "/agents/support", "/search?q=linear"} {
		if p := b.get(path); !strings.Contains(p.Body, address) {
			t.Errorf("%s does not show the icon", path)
		}
	}
	src := "/connectors/linear/icon?v=" + between(b.get("/connectors").Body, address, `"`)
	p := b.get(src)
	if p.Status != http.StatusOK || p.Body != string(d.iconPicture()) || p.Header.Get("Content-Type") != "image/png" ||
		p.Header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || p.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d, %v", p.Status, p.Header)
	}
	b.get("/connectors/"+plain.Slug+"/icon").want(t, http.StatusNotFound)
	page := b.get("/connectors").Body
	if !strings.Contains(page, `class="monogram"`) || strings.Contains(page, "/connectors/"+listed.Slug+"/icon") {
		t.Error("a connector of the catalog has not the catalog's mark")
	}
}
