//go:build e2e

package postgres_test

import (
	"os"
	"path/filepath"
	"testing"

	"patchbay/internal/postgres"
)

func TestAttach_UsesRunningServer(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	c := startCluster(t, throwaway(dir))
	url, stop, err := postgres.Attach(t.Context(), throwaway(dir))
	if err != nil {
		t.Fatal(err)
	}
	if url != c.URL() {
		t.Errorf("address %q, the server's is %q", url, c.URL())
	}
	stop()
	if got := text(t, c.URL(), "select 'alive'"); got != "alive" {
		t.Errorf("the server after the command's end: %q", got)
	}
}

func TestAttach_StartsClusterWithoutServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	url, stop, err := postgres.Attach(t.Context(), throwaway(dir))
	if err != nil {
		t.Fatal(err)
	}
	exec1(t, url, "create table notes as select 'by a command' as note")
	stop()
	if _, err := os.Stat(filepath.Join(dir, "postgres/data/postmaster.pid")); !os.IsNotExist(err) {
		t.Errorf("postmaster.pid after the command: %v", err)
	}
	c := startCluster(t, throwaway(dir))
	if got := text(t, c.URL(), "select note from notes"); got != "by a command" {
		t.Errorf("note = %q", got)
	}
}

func TestStart_WaitsForCommand(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	_, stop, err := postgres.Attach(t.Context(), throwaway(dir))
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() {
		c, err := postgres.Start(t.Context(), throwaway(dir))
		if err == nil {
			err = c.Stop(t.Context())
		}
		started <- err
	}()
	stop()
	if err := <-started; err != nil {
		t.Errorf("server beside a command: %v", err)
	}
}

func TestAttach_StopWaitsForOtherUsers(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	_, stopFirst, err := postgres.Attach(t.Context(), throwaway(dir))
	if err != nil {
		t.Fatal(err)
	}
	url, stopSecond, err := postgres.Attach(t.Context(), throwaway(dir))
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		stopFirst()
		close(stopped)
	}()
	for range 20 {
		if got := text(t, url, "select 'still here'"); got != "still here" {
			t.Fatalf("answer %q", got)
		}
	}
	stopSecond()
	<-stopped
}
