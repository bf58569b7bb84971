//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestMetricsAreOnThePrivateAddressAlone(t *testing.T) {
	t.Parallel()
	_, s, c, _ := synced(t, "PATCHBAY_PRIVATE_ADDR=127.0.0.1:0", "PATCHBAY_LOG_FORMAT=json")
	started, _ := s.stderr.wait("private listener started", s.exited)
	var line struct{ Addr string }
	if err := json.Unmarshal([]byte(started), &line); err != nil {
		t.Fatalf("the log line of the private listener: %v: %s", err, started)
	}
	c.call(http.MethodGet, "/api/v1/connectors/tools", nil)
	p := newPerson(t)
	p.get(s.base + "/.well-known/oauth-protected-resource/mcp/tools")
	scraped := p.get("http://" + line.Addr + "/metrics").body
	for _, want := range []string{
		`patchbay_sync_runs_total{outcome="ok"} 1`,
		`patchbay_http_requests_total{method="GET",route="/api/v1/connectors/{id}",status="2xx"}`,
		`patchbay_http_requests_total{method="POST",route="/connectors/{id}/sync_tools",status="2xx"}`,
		`patchbay_http_requests_total{method="GET",route="/.well-known/oauth-protected-resource/mcp/{connector}",status="2xx"} 1`,
		`patchbay_db_connections{state="idle"}`,
		"patchbay_db_up 1", "patchbay_instances 1", "patchbay_syncs_due 0",
		"go_goroutines", "process_open_fds",
	} {
		if !strings.Contains(scraped, want) {
			t.Errorf("not in the metrics: %s", want)
		}
	}
	if profile := p.get("http://" + line.Addr + "/debug/pprof/goroutine?debug=1"); profile.status != http.StatusOK {
		t.Errorf("the profile answers %d", profile.status)
	}
	if public := p.get(s.base + "/metrics"); public.status != http.StatusNotFound {
		t.Errorf("the public address answers %d for metrics", public.status)
	}
}
