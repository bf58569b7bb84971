package toolsync_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/secret"
)

// requests describes the requests of the newest run.
func (b *bundle) requests(t *testing.T, c connectors.Connector) []string {
	t.Helper()
	all, err := b.Door().Syncs().RunRequests(t.Context(), b.lastRun(t, c).ID)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, q := range all.List {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %d %s", q.Phase, q.Method, q.Era, q.Status, q.Reason)))
	}
	return lines
}

// syncDue performs the due scheduled syncs.
func (b *bundle) syncDue(t *testing.T) {
	t.Helper()
	b.MakeDue(t)
	events, stop := b.sync.Watch(b.Tenant)
	defer stop()
	if n, err := b.sync.SyncDue(t.Context(), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}); n != 1 || err != nil {
		t.Fatalf("%d began, %v", n, err)
	}
	for p := range events {
		if p.Done {
			return
		}
	}
}

// storedRequests returns the number of runs with stored requests, and all of these.
func (b *bundle) storedRequests(t *testing.T) (runs int, all string) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		return tx.QueryRow(t.Context(), "select count(*), coalesce(string_agg(requests::text, ' '), '') from sync_run_requests").Scan(&runs, &all)
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs, all
}

func TestRun_StoresRequestsOfAllAttempts(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(3), PageSize: 2, SessionID: "s", Bearer: "the-token"})
	c := b.addConnector(t, up.URL, perAgent)
	agent := b.Agent(t)
	b.storeToken(t, c, &agent.ID, secret.Text("the-token"))

	b.mustSync(t, c) // without a credential first

	want := []string{
		"discover POST modern 401 unauthorized", "initialize POST handshake 401 unauthorized",
		"discover POST modern 404 http_status", "initialize POST handshake 200", "initialized POST handshake 202",
		"list POST handshake 200", "list POST handshake 200", "close DELETE handshake 204",
	}
	got := b.requests(t, c)
	for i := range want { // the script's answer to unknown methods
		if i < len(got) && strings.HasPrefix(got[i], "discover POST modern") && i > 1 {
			want[i] = got[i]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestScheduledSync_StoresRequestsOfAFailureOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), On: map[string]mcptest.Handler{
		"tools/list": mcptest.First(2, mcptest.ListResult("["+mcptest.Tool("a")+"]"), mcptest.Status(http.StatusServiceUnavailable, "words of the server")),
	}})
	c := b.addConnector(t, up.URL, func(d *connectors.Draft) { d.URL += "?key=in-the-address" })
	b.mustSync(t, c)
	b.syncDue(t) // the same again
	if runs, _ := b.storedRequests(t); runs != 1 {
		t.Errorf("%d runs tell their requests after a scheduled sync that found nothing new", runs)
	}
	b.syncDue(t)
	want := []string{"initialize POST handshake 200", "initialized POST handshake 202", "list POST handshake 503 http_status"}
	if diff := cmp.Diff(want, b.requests(t, c)); diff != "" {
		t.Error(diff)
	}
	b.syncDue(t) // fails as before
	if runs, _ := b.storedRequests(t); runs != 2 {
		t.Errorf("%d runs tell their requests, want the first and the one that failed", runs)
	}
	if _, all := b.storedRequests(t); strings.Contains(all, "words") || strings.Contains(all, "key") {
		t.Errorf("stored: %s", all)
	}
}
