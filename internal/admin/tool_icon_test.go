package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

func TestToolIcon_OfServerIsShown(t *testing.T) {
	t.Parallel()
	const dot = "data:image/svg+xml;base64,PHN2Zy8+"
	for src, shown := range map[string]bool{
		dot:                              true,
		"data:image/png;base64,iVBORw0=": true,
		"https://example.com/icon.png":   false, // would reveal the viewer
		"data:text/html;base64,PHA+":     false,
		"javascript:alert(1)":            false,
		"data:image/png;base64,\\\" onerror=\\\"alert(1)":           false,
		"data:image/png;base64," + strings.Repeat("A", 4096):        false,
		"data:image/svg+xml;charset=utf-8,<svg onload='alert(1)'/>": false,
	} {
		d := newDashboard(t)
		c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
		raw := `{"name":"search","inputSchema":{"type":"object"},"icons":[{"src":"` + src + `"}]}`
		if _, err := d.Door().Syncs().Finish(t.Context(), d.Run(t, c.ID).ID, fixture.FirstResult(fixture.DefinitionOf("search", raw))); err != nil {
			t.Fatal(err)
		}
		b := d.signInAsRole(connectors.RoleViewer)
		for _, path := range []string{"/connectors/linear/tools", "/connectors/linear/tools/search", "/tools"} {
			p := b.get(path)
			p.want(t, http.StatusOK, "search")
			if has := strings.Contains(p.Body, `class="tool-icon"`); has != shown {
				t.Errorf("%s of %.60q has an icon: %t", path, src, has)
			}
		}
	}
}
