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

func TestTarget_OneLayerRetries(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(api.Close)
	b := newBundle(t)
	c := b.addConnector(t, "https://documents.example.com/openapi.json", func(d *connectors.Draft) {
		d.Transport, d.ServerURL, d.RetryAttempts, d.RetryBackoff = connectors.TransportAPI, api.URL, 2, 50*time.Millisecond
	})
	target, err := b.sync.Target(t.Context(), b.Tenant, c, nil)
	must(t, err)
	session, err := (&mcp.Dialer{HTTP: api.Client(), Version: "test"}).Dial(t.Context(), target)
	must(t, err)
	defer session.Close(context.Background())
	binding := `{"v":1,"method":"GET","server":"` + api.URL + `","path":"/a"}`
	_, err = session.Call(t.Context(), mcp.Call{Name: "a", Meta: apiserver.CallMeta(json.RawMessage(binding))})
	if err == nil || requests.Load() != 3 {
		t.Errorf("%d requests, %v", requests.Load(), err)
	}
}
