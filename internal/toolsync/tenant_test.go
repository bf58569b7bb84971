package toolsync_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/testclient"
	"patchbay/internal/toolsync"
)

// It syncs one server for two tenants by turns.
func TestSync_TenantsShareNoConnection(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up, err := url.Parse(newUpstream(t, mcptest.Script{Tools: mcptest.Tools(3)}).URL)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var now connectors.TenantID // tenant of the active sync
	owners := map[string]connectors.TenantID{}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: up.Scheme, Host: up.Host}) },
		Transport: testclient.New(t).Transport,
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if owner, known := owners[r.RemoteAddr]; known && owner != now {
			t.Errorf("a request of tenant %s came on a connection of tenant %s", now, owner)
		}
		owners[r.RemoteAddr] = now
		mu.Unlock()
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	made := map[connectors.TenantID]connectors.Connector{}
	for _, tenant := range []connectors.TenantID{b.Tenant, b.Other} {
		made[tenant] = b.ConnectorIn(t, tenant, func(d *connectors.Draft) { d.URL, d.Timeout = front.URL+up.Path, patience })
	}
	for range 3 {
		for tenant, c := range made {
			mu.Lock()
			now = tenant
			mu.Unlock()
			if _, err := b.sync.Sync(t.Context(), tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(owners) < 2 {
		t.Errorf("connections: %v", owners)
	}
}
