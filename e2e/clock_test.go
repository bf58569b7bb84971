package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/postgres"
)

// TestWhatIsDueIsSyncedThroughDeathsAndRestarts has many connectors due in three processes. Half-way one is killed, PostgreSQL is killed
// and comes back, and the process does, too. Each connector is synced, none is left running, and none was ever synced twice at once. How
// many there are PATCHBAY_TEST_DUE may say.
func TestWhatIsDueIsSyncedThroughDeathsAndRestarts(t *testing.T) {
	t.Parallel()
	due := dueConnectors(t)
	half := due / 3
	h := newHome(t)
	cluster, err := postgres.Start(t.Context(), postgres.Options{Dir: filepath.Join(h.dir, "pg"), Throwaway: true, Settings: map[string]string{
		"synchronous_commit": "on", // what was said to be stored is, also after a kill
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopCluster(t, cluster) })
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+cluster.URL())
	one, other, victim := h.launch(), h.launch(), h.launch()
	for _, s := range []*server{one, other, victim} {
		s.waitReady()
	}
	c := client{t: t, base: one.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	upstream := newCrowded(t, half)
	for i := range due {
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
			"name": "Connector " + strconv.Itoa(i), "url": upstream.URL + "/" + strconv.Itoa(i), "listen": "off",
		})
	}

	owner := &ownersEye{t: t, url: cluster.URL()}
	owner.exec("update connector_clock set due_at = now()")
	began := time.Now()
	upstream.waitHalf()
	victim.kill()
	if err := syscall.Kill(owner.postmaster(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	upstream.goOn()
	eventually(t, func() error { return owner.agrees(nil) })
	again := h.serve()

	eventually(t, func() error {
		return owner.agrees(map[string]int{
			"select count(*) from connector_clock where ok_at is not null and claimed_by is null": due,
			"select count(*) from sync_runs where state in ('running', 'queued')":                 0,
			"select count(*) from tools": 2 * due,
		})
	})
	t.Logf("%d connectors were synced %s after they were due", due, time.Since(began).Round(time.Millisecond))
	if n := upstream.twice.Load(); n > 0 {
		t.Errorf("%d times a connector was synced twice at once", n)
	}
	for _, s := range []*server{one, other, again} {
		if code := s.terminate(); code != 0 {
			t.Errorf("a server ended with %d", code)
		}
	}
}

// dueConnectors is how many connectors the test has, at least the usual sixty.
func dueConnectors(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PATCHBAY_TEST_DUE")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 60 {
		t.Fatalf("PATCHBAY_TEST_DUE is %q, no number from 60 on", text)
	}
	return n
}

// crowded is a server for many connectors, each at a path of its own. It notices when one path is listed twice at the same time. After
// the first lists it makes the others wait.
type crowded struct {
	*httptest.Server
	half  int
	lists atomic.Int64
	twice atomic.Int64
	there chan struct{} // closed when half were listed
	gate  chan struct{} // closed when the others may be
	goOn  func()

	mu     sync.Mutex
	listed map[string]int // guarded by mu: under way
}

func newCrowded(t *testing.T, half int) *crowded {
	t.Helper()
	s := &crowded{half: half, there: make(chan struct{}), gate: make(chan struct{}), listed: map[string]int{}}
	s.goOn = sync.OnceFunc(func() { close(s.gate) })
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.goOn()
		s.Close()
	})
	return s
}

func (s *crowded) waitHalf() { <-s.there }

// ServeHTTP answers as a small MCP server.
func (s *crowded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &call)
	result := `{}`
	switch {
	case call.Method == "server/discover":
		w.WriteHeader(http.StatusBadRequest)
		return
	case call.Method == "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"crowded","version":"1"}}`
	case call.Method == "tools/list":
		if !s.list(r) {
			return
		}
		result = `{"tools":[{"name":"one","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{"type":"object"}}]}`
	case call.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
}

// list is false where whoever asked has gone.
func (s *crowded) list(r *http.Request) bool {
	s.mu.Lock()
	s.listed[r.URL.Path]++
	if s.listed[r.URL.Path] > 1 {
		s.twice.Add(1)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.listed[r.URL.Path]--
	}()
	switch n := int(s.lists.Add(1)); {
	case n < s.half:
		return true
	case n == s.half:
		close(s.there)
		return true
	}
	select {
	case <-s.gate:
		return true
	case <-r.Context().Done():
		return false
	}
}

// ownersEye looks at the database as its owner, through whatever happens to it.
type ownersEye struct {
	t   *testing.T
	url string
}

func (o *ownersEye) do(fn func(tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(o.t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, o.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		return fn(tx)
	})
}

func (o *ownersEye) exec(statement string) {
	o.t.Helper()
	if err := o.do(func(tx pgx.Tx) error { _, err := tx.Exec(o.t.Context(), statement); return err }); err != nil {
		o.t.Fatal(err)
	}
}

// agrees holds the answers to queries against what is wanted.
func (o *ownersEye) agrees(want map[string]int) error {
	return o.do(func(tx pgx.Tx) error {
		for query, n := range want {
			var got int
			if err := tx.QueryRow(o.t.Context(), query).Scan(&got); err != nil {
				return err
			}
			if got != n {
				return fmt.Errorf("%s: %d, want %d", query, got, n)
			}
		}
		return nil
	})
}

func (o *ownersEye) postmaster() int {
	o.t.Helper()
	var dir string
	if err := o.do(func(tx pgx.Tx) error { return tx.QueryRow(o.t.Context(), "show data_directory").Scan(&dir) }); err != nil {
		o.t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		o.t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		o.t.Fatal(err)
	}
	return pid
}
