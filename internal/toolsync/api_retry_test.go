package toolsync_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/apiserver"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// countCalls counts the calls that package mcp sends.
type countCalls struct {
	http.RoundTripper
	calls int
}

// RoundTrip implements http.RoundTripper.
func (c *countCalls) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Mcp-Method") == "tools/call" {
		c.calls++
	}
	return c.RoundTripper.RoundTrip(r)
}

func TestTarget_OneLayerRetries(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for name, tc := range map[string]struct {
		lastAnswer int32 // after it the API refuses connections; 0: it answers always
		requests   int32
	}{
		"answers":           {0, 3},
		"ends in the midst": {1, 1},
	} {
		var requests atomic.Int32
		api := httptest.NewUnstartedServer(nil)
		api.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if requests.Add(1) == tc.lastAnswer {
				_ = api.Listener.Close()
			}
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		api.Start()
		t.Cleanup(api.Close)
		c := b.addConnector(t, "https://documents.example.com/openapi.json", func(d *connectors.Draft) {
			d.Transport, d.ServerURL, d.RetryAttempts, d.RetryBackoff = connectors.TransportAPI, api.URL, 2, 50*time.Millisecond
		})
		target, err := b.sync.Target(t.Context(), b.Tenant, c, nil)
		must(t, err)
		counted := &countCalls{RoundTripper: target.HTTP.Transport}
		target.HTTP.Transport = counted
		session, err := (&mcp.Dialer{HTTP: api.Client(), Version: "test"}).Dial(t.Context(), target)
		must(t, err)
		defer session.Close(context.Background())
		binding := `{"v":1,"method":"GET","server":"` + api.URL + `","path":"/a"}`
		_, err = session.Call(t.Context(), mcp.Call{Name: "a", Meta: apiserver.CallMeta(json.RawMessage(binding))})
		if err == nil || requests.Load() != tc.requests || counted.calls != 1 {
			t.Errorf("%s: %d requests, %d calls, %v", name, requests.Load(), counted.calls, err)
		}
	}
}
