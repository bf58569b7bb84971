package jobs_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

// newForgetfulServer starts a server that opens a session at each handshake and has dropped one of them by
// tools/list.
func newForgetfulServer(t *testing.T, forgotten string) *mcptest.Server {
	t.Helper()
	return mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"initialize": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			w.Header().Set("Mcp-Session-Id", fmt.Sprintf("session-%d", c.N))
			mcptest.Answer("application/json", func(c mcptest.Call) string {
				return mcptest.Result(c, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"forgetful","version":"1"}}`)
			})(w, r, c)
		},
		"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			if r.Header.Get("Mcp-Session-Id") == forgotten {
				mcptest.Status(http.StatusNotFound, "session expired")(w, r, c)
				return
			}
			mcptest.ListResult(mcptest.Tool("search"))(w, r, c)
		},
	}})
}

func TestSyncDue_ExpiredSessionIsReopenedSilently(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newForgetfulServer(t, "session-2")
	c := b.addConnector(t, up.URL) // without retries: another session is no retry
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	defer stop(t, b.start(t))

	for range 2 {
		b.MakeDue(t)
		waitSynced(t, events, c.ID)
	}
	handshakes := 0
	for _, method := range up.Methods() {
		if method == "initialize" {
			handshakes++
		}
	}
	if handshakes != 3 {
		t.Errorf("%d handshakes in %v", handshakes, up.Methods())
	}
	runs, err := b.Door().Syncs().List(t.Context(), c.ID, store.Page{})
	if err != nil || len(runs.Items) != 2 {
		t.Fatalf("runs = %+v, %v", runs.Items, err)
	}
	for _, run := range runs.Items {
		if run.State != connectors.SyncOK || run.ErrorCode != "" {
			t.Errorf("run = %+v", run)
		}
	}
	shown, err := b.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil || shown.LastError != nil {
		t.Errorf("the connector shows %+v, %v", shown.LastError, err)
	}
	clock, err := b.Door().Syncs().Clock(t.Context(), c.ID)
	if diff := cmp.Diff(0, clock.Failures); diff != "" || err != nil {
		t.Errorf("failures in a row: %s, %v", diff, err)
	}
}
