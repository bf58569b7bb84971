package sso

import (
	"net/http"
	"testing"
	"time"
)

func TestDiscovery_IsOneTenantsAlone(t *testing.T) {
	t.Parallel()
	known, now := newProviders(), time.Now()
	known.put(providerKey{"one", "https://id.example.com"}, &provider{}, now)
	if known.get(providerKey{"one", "https://id.example.com"}, now) == nil {
		t.Error("the tenant's own discovery is gone")
	}
	if known.get(providerKey{"other", "https://id.example.com"}, now) != nil {
		t.Error("another tenant's discovery is used")
	}
}

type recordingTransport struct{ of []*http.Request }

func (r *recordingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	r.of = append(r.of, req)
	return nil, http.ErrHandlerTimeout
}

func TestTenantTransport_NamesTheTenantOfEachRequest(t *testing.T) {
	t.Parallel()
	next := &recordingTransport{}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://id.example.com/keys", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = tenantTransport{of: next, tenant: "one"}.RoundTrip(req)
	if len(next.of) != 1 || next.of[0].Context() == req.Context() {
		t.Errorf("%d requests, in the caller's context", len(next.of))
	}
}
