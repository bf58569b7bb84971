//go:build e2e

package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/testing/pgtest"
)

// One replica syncs with a server that hangs; the sync is cancelled at the other.
func TestSyncCancel_AtAnotherReplica(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+pgtest.Empty(t))
	stuck := newHanging(t)
	a, b := h.launch(), h.launch()
	a.waitReady()
	b.waitReady()
	b.setUp(newPerson(t))
	key := h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")
	atA, atB := client{t: t, base: a.base, key: key}, client{t: t, base: b.base, key: key}
	atA.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Stuck", "url": stuck.URL + "/mcp", "timeout_ms": 60000})
	ended := make(chan int, 1)
	go func() {
		status, _, _ := atA.try(http.MethodPost, "/api/v1/connectors/stuck/sync_tools", nil)
		ended <- status
	}()
	<-stuck.asked
	h.env = append(h.env, "PATCHBAY_API_KEY="+key)
	if said := h.run("ctl", "--url", b.base, "connectors", "cancel-sync", "stuck"); !strings.Contains(said, "Cancelled the sync of stuck.") {
		t.Errorf("ctl says %q", said)
	}
	if status := <-ended; status != http.StatusConflict {
		t.Errorf("the sync ends with %d", status)
	}
	runs := atB.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/stuck/sync_runs", nil)
	if run := runs["items"].([]any)[0].(map[string]any); run["status"] != "cancelled" || run["cancelled_by"] != "tests" {
		t.Errorf("%v", run)
	}
	if c := atB.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/stuck", nil); c["last_error"] != nil || c["status"] != "never_synced" {
		t.Errorf("%v", c)
	}
}
