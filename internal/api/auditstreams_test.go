package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/auditstreams"
	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
)

func (w *world) createAuditStream(t *testing.T, tenant connectors.TenantID) connectors.AuditStreamID {
	t.Helper()
	return w.storeStream(t, tenant, "https://siem.example.com/in?token=x")
}

// createStreamTo creates a stream of w.Tenant.
func (w *world) createStreamTo(t *testing.T, url string) connectors.AuditStreamID {
	t.Helper()
	return w.storeStream(t, w.Tenant, url)
}

func (w *world) storeStream(t *testing.T, tenant connectors.TenantID, url string) connectors.AuditStreamID {
	t.Helper()
	s := connectors.AuditStream{Name: "SIEM", Kind: connectors.StreamHTTPS, URL: url, Format: connectors.StreamNDJSON, Header: "Authorization"}
	id, err := w.St.Tenant(tenant).AuditStreams().Create(t.Context(), s, "Bearer planted-secret")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// sendStream sends the stream of w.Tenant until done, or until the receiver had three attempts: then no result was stored.
func (w *world) sendStream(t *testing.T, attempts *atomic.Int64, done func() bool) func() error {
	t.Helper()
	return func() error {
		w.AsSystem(t, "update audit_streams set calls_n = calls_n - 1", nil) // something to send
		s := auditstreams.New(auditstreams.Options{
			Store: w.St, Egress: safehttp.New(safehttp.Options{Mode: safehttp.Local}), Interval: 10 * time.Millisecond, Lease: time.Second,
		})
		s.Start(t.Context())
		defer s.Stop(context.Background())
		deadline := time.After(30 * time.Second)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for !done() {
			select {
			case <-deadline:
				return fmt.Errorf("the stream was not sent within 30 s")
			case <-tick.C:
				if attempts.Load() >= 3 && !done() {
					return fmt.Errorf("no result was stored")
				}
			}
		}
		return nil
	}
}

func TestAuditStream_SecretIsNeverShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	var got []byte
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		if r.Header.Get("X-Key") != "planted-secret" {
			t.Errorf("headers = %v", r.Header)
		}
	}))
	t.Cleanup(there.Close)
	made := w.call(t, admin, http.MethodPost, "/api/v1/audit_streams", map[string]any{"name": " SIEM ", "kind": "https", "url": there.URL, "header": "X-Key", "secret": "planted-secret"})
	shown := made.want(http.StatusCreated)
	path := "/api/v1/audit_streams/" + fmt.Sprint(shown["id"])
	if shown["name"] != "SIEM" || shown["has_secret"] != true || shown["format"] != "ndjson" || shown["state"] != "active" {
		t.Errorf("created: %v", shown)
	}
	test := w.call(t, admin, http.MethodPost, path+"/test", nil).want(http.StatusOK)
	if test["accepted"] != true || test["status"] != float64(200) || !bytes.Contains(got, []byte(`"log_name":"test"`)) || bytes.Contains(got, []byte(`"sequence"`)) {
		t.Errorf("test: %v, %s", test, got)
	}
	for _, answer := range []string{
		string(made.body), string(w.call(t, admin, http.MethodGet, path, nil).body), string(w.call(t, admin, http.MethodGet, "/api/v1/audit_streams", nil).body),
		string(w.call(t, admin, http.MethodPatch, path, map[string]any{"name": "B"}).body), string(w.call(t, admin, http.MethodGet, "/api/v1/audit_events", nil).body), w.log.String(),
	} {
		if strings.Contains(answer, "planted-secret") {
			t.Errorf("the secret is in %s", answer)
		}
	}
	w.call(t, admin, http.MethodPatch, path, map[string]any{"url": "https://elsewhere.example.com/"}).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodPatch, path, map[string]any{"header": "X-Other"}).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodPost, "/api/v1/audit_streams", map[string]any{"name": "A", "kind": "https", "url": "http://169.254.169.254/"}).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodPost, "/api/v1/audit_streams", map[string]any{"name": "A", "kind": "syslog", "url": "tls://10.0.0.1"}).problem(http.StatusUnprocessableEntity, "invalid")
	off := w.call(t, admin, http.MethodPatch, path, map[string]any{"enabled": false}).want(http.StatusOK)
	if off["state"] != "paused" || off["paused_reason"] != nil {
		t.Errorf("off: %v", off)
	}
}
