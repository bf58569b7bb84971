//go:build e2e

package e2e_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/postgres"
)

// TestAnotherPostgreSQLTakesOver stops the primary, promotes its standby, and a server with both in its URL
// goes on.
func TestAnotherPostgreSQLTakesOver(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	primary := startCluster(t, filepath.Join(h.dir, "a"))
	standby := h.standby(primary, filepath.Join(h.dir, "b"))
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+bothOf(t, primary.URL(), standby.URL()))
	s := h.serve()
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Counter", "url": newCounter(t)})
	c.must(http.StatusOK, http.MethodPost, "/connectors/counter/sync_tools", nil)
	names := c.tools("counter")
	a := c.hire("helper", "counter")
	if answer := a.count(1); !answer.ok {
		t.Fatalf("a call before: %+v", answer)
	}

	stopCluster(t, primary) // a shutdown sends the standby all that there is
	began := time.Now()
	eventually(t, func() error { return s.readyz(http.StatusServiceUnavailable) })
	promote(t, standby)
	eventually(t, func() error { return s.readyz(http.StatusOK) })
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("ready after %s", took)
	}
	if diff := cmp.Diff(names, c.tools("counter")); diff != "" {
		t.Errorf("tools: %s", diff)
	}
	c.must(http.StatusOK, http.MethodPost, "/connectors/counter/sync_tools", nil)
	c.must(http.StatusAccepted, http.MethodPost, "/connectors/counter/sync_tools?wait=false", nil)
	eventually(t, func() error { return allOK(c, "counter", 3) })
	if answer := a.count(2); !answer.ok {
		t.Errorf("a call after: %+v", answer)
	}
	if code := s.terminate(); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
}

// startCluster starts a PostgreSQL that others may copy, or the copy.
func startCluster(t *testing.T, dir string) *postgres.Cluster {
	t.Helper()
	c, err := postgres.Start(t.Context(), postgres.Options{Dir: dir, Throwaway: true, Settings: map[string]string{
		"wal_level": "replica", "max_wal_senders": "4", "hot_standby": "on", "synchronous_commit": "on",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopCluster(t, c) })
	return c
}

func stopCluster(t *testing.T, c *postgres.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Errorf("stop PostgreSQL: %v", err)
	}
}

// standby copies a primary and has the copy follow it.
func (h *home) standby(primary *postgres.Cluster, dir string) *postgres.Cluster {
	h.t.Helper()
	copier := clientProgram(h.t, "pg_basebackup")
	config, err := pgx.ParseConfig(primary.URL())
	if err != nil {
		h.t.Fatal(err)
	}
	data := filepath.Join(dir, "postgres", "data")
	if err := os.MkdirAll(filepath.Dir(data), 0o755); err != nil {
		h.t.Fatal(err)
	}
	copied := exec.Command(copier, "-h", config.Host, "-p", "5432", "-U", config.User, "-D", data, "-R", "-c", "fast")
	if said, err := copied.CombinedOutput(); err != nil {
		h.t.Fatalf("pg_basebackup: %v: %s", err, said)
	}
	return startCluster(h.t, dir)
}

func promote(t *testing.T, standby *postgres.Cluster) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), standby.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var promoted bool
	if err := conn.QueryRow(t.Context(), "select pg_promote()").Scan(&promoted); err != nil || !promoted {
		t.Fatalf("promoted: %v, %v", promoted, err)
	}
}

// bothOf is the address of whichever of two servers takes changes.
func bothOf(t *testing.T, one, other string) string {
	t.Helper()
	a, err := url.Parse(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := url.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	query := a.Query()
	query.Set("host", query.Get("host")+","+b.Query().Get("host"))
	query.Set("port", "5432,5432")
	query.Set("target_session_attrs", "read-write")
	a.RawQuery = query.Encode()
	return a.String()
}
