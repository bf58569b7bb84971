package publicregistry_test

import (
	"net/http/httptest"
	"testing"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/mcpregistry"
	"patchbay/internal/safehttp"
)

// Another Patchbay reads the list as any registry's.
func TestServe_PatchbayReadsTheList(t *testing.T) {
	t.Parallel()
	w := newRegistryTest(t)
	w.connector(t, "alpha", "search")
	_, path := w.publish(t, connectors.Registry{EveryConnector: true})
	s := httptest.NewServer(w.handler)
	t.Cleanup(s.Close)
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	list, err := mcpregistry.New(egress.Client(), egress.CheckURL).Read(t.Context(), s.URL+path+"/v0.1/servers", "alpha")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := clientconfig.Read(list.Document)
	if err != nil || len(entries) != 1 || entries[0].URL != baseURL+"/mcp/alpha" {
		t.Errorf("%+v, %v", entries, err)
	}
}
