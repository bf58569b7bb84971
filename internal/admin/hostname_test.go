package admin_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
)

func TestHostname_UnicodeAndASCII(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, func(d *connectors.Draft) { d.URL = "https://xn--bcher-kva.example/mcp" })
	b := d.signInAsRole(connectors.RoleAdmin)
	for _, path := range []string{"/connectors", "/connectors/" + c.Slug} {
		b.get(path).want(t, http.StatusOK, "https://xn--bcher-kva.example/mcp", "https://bücher.example/mcp")
	}
}
