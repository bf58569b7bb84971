package mcpadmin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/testclient"
)

func TestOutage_IsAnsweredAtOnceWithRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.newAPIKey(t, w.Tenant, connectors.RoleViewer)
	send := func(path string) *http.Response {
		t.Helper()
		method, body := http.MethodGet, ""
		if !strings.HasPrefix(path, "/api/") {
			method, body = http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		}
		r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		response, err := testclient.New(t).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	paths := []string{"/api/v1/connectors", "/mcp/admin"}
	for _, path := range paths {
		if r := send(path); r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	reopen := w.CloseDatabase(t)
	for _, path := range paths {
		began := time.Now()
		r := send(path)
		if waited := time.Since(began); r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" || waited > 5*time.Second {
			t.Errorf("%s: %d, Retry-After %q, after %v", path, r.StatusCode, r.Header.Get("Retry-After"), waited)
		}
	}
	reopen()
	for _, path := range paths {
		for send(path).StatusCode != http.StatusOK {
			if t.Context().Err() != nil {
				t.Fatal(path)
			}
		}
	}
}
