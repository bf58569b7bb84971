//go:build e2e

package postgres_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fault"
	"patchbay/internal/postgres"
)

func TestRestart_KeepsData(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	c := startCluster(t, postgres.Options{Dir: dir}) // as in production, with fsync
	exec1(t, c.URL(), "create table notes as select 'kept' as note")
	stopCluster(t, c)

	c = startCluster(t, postgres.Options{Dir: dir})
	if got := text(t, c.URL(), "select note from notes"); got != "kept" {
		t.Errorf("note = %q", got)
	}
}

func TestCluster_ReachableOnlyByDirectory(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	c := startCluster(t, throwaway(dir))
	got := map[string]string{}
	for _, name := range []string{"listen_addresses", "data_checksums", "unix_socket_permissions", "server_encoding"} {
		got[name] = text(t, c.URL(), "show "+name)
	}
	want := map[string]string{"listen_addresses": "", "data_checksums": "on", "unix_socket_permissions": "0700", "server_encoding": "UTF8"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	for _, name := range []string{"postgres", "postgres/data", "postgres/run"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, %v; want 0700", name, info.Mode(), err)
		}
	}
}

func TestStart_RefusesSecondServer(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	c := startCluster(t, throwaway(dir))
	_, err := postgres.Start(t.Context(), throwaway(dir))
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "already uses the data directory "+dir) {
		t.Errorf("second start: %v", err)
	}
	if got := text(t, c.URL(), "select 'alive'"); got != "alive" {
		t.Errorf("the first server: %q", got)
	}
}

func TestStop_FreesDirectory(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	c := startCluster(t, throwaway(dir))
	stopCluster(t, c)
	stopCluster(t, c) // a second Stop is harmless
	select {
	case <-c.Done():
	default:
		t.Error("Done is open after Stop")
	}
	if c.Err() != nil {
		t.Errorf("Err after Stop: %v", c.Err())
	}
	if _, err := os.Stat(filepath.Join(dir, "postgres/data/postmaster.pid")); !os.IsNotExist(err) {
		t.Errorf("postmaster.pid after Stop: %v", err)
	}
	stopCluster(t, startCluster(t, throwaway(dir)))
}

func TestLongDirectory_HasShortSocket(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(makePassable(t), strings.Repeat("long", 25), "data")
	c := startCluster(t, throwaway(dir))
	socketDir := text(t, c.URL(), "show unix_socket_directories")
	if !strings.HasPrefix(socketDir, "/tmp/patchbay-") {
		t.Errorf("socket directory %q", socketDir)
	}
	t.Cleanup(func() { _ = os.RemoveAll(socketDir) })
	postmaster(t, dir) // its file is still below the data directory
	url, stop, err := postgres.Attach(t.Context(), throwaway(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if got := text(t, url, "select 'found'"); got != "found" {
		t.Errorf("through Attach: %q", got)
	}
}

func TestInterruptedInitdb_LeavesNoCluster(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	left := filepath.Join(dir, "postgres/data.new-1")
	if err := os.MkdirAll(filepath.Join(left, "base"), 0o700); err != nil {
		t.Fatal(err)
	}
	startCluster(t, throwaway(dir))
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the unfinished cluster is still there: %v", err)
	}
}

func TestForeignDirectory_NotOverwritten(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	mine := filepath.Join(dir, "postgres/data/mine")
	if err := os.MkdirAll(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := postgres.Start(t.Context(), throwaway(dir))
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "is not a PostgreSQL cluster") {
		t.Errorf("start: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("the directory's contents: %v", err)
	}
}

func TestCluster_InDirectoryOfRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := postgres.Start(t.Context(), throwaway(filepath.Join(closed, "data")))
	if err != nil {
		// A chroot or a strict container allows no user namespace: then the error names a way out.
		if !strings.Contains(err.Error(), "Choose a PATCHBAY_DATA_DIR") {
			t.Errorf("start: %v", err)
		}
		return
	}
	if got := text(t, c.URL(), "select 'namespace'"); got != "namespace" {
		t.Errorf("answer %q", got)
	}
	stopCluster(t, c)
}
