//go:build e2e

package postgres_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKill_OfServerLosesNothing(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	s := startServer(t, dir)
	exec1(t, s.url, "create table notes as select 'kept' as note")
	_ = s.end(t, syscall.SIGKILL)

	c := startCluster(t, throwaway(dir)) // at once: the orphan may still be ending
	if got := text(t, c.URL(), "select note from notes"); got != "kept" {
		t.Errorf("note = %q", got)
	}
}

func TestKill_OfPostgresIsRestarted(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	c := startCluster(t, throwaway(dir))
	exec1(t, c.URL(), "create table notes as select 'kept' as note")
	for range 2 {
		kill(t, postmaster(t, dir), syscall.SIGKILL)
		if got := queryEventually(t, c.URL(), "select note from notes"); got != "kept" {
			t.Errorf("note = %q", got)
		}
	}
	select {
	case <-c.Done():
		t.Errorf("the cluster has ended: %v", c.Err())
	default:
	}
}

func TestKill_OfPostgresWithBusyBackend(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	c := startCluster(t, throwaway(dir))
	busy := make(chan error, 1)
	ready := make(chan struct{})
	go func() {
		close(ready)
		_, err := query(t.Context(), c.URL(), "select sum(n)::text from generate_series(1, 1e12) n")
		busy <- err
	}()
	<-ready
	waitFor(t, c.URL(), "select count(*)::text from pg_stat_activity where query like 'select sum%'", "1")
	kill(t, postmaster(t, dir), syscall.SIGKILL)
	if got := queryEventually(t, c.URL(), "select 'back'"); got != "back" {
		t.Errorf("answer %q", got)
	}
	if err := <-busy; err == nil {
		t.Error("a backend survived its postmaster")
	}
}

func TestKill_OfBothIsRecovered(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	s := startServer(t, dir)
	exec1(t, s.url, "create table notes as select 'kept' as note")
	kill(t, s.cmd.Process.Pid, syscall.SIGSTOP) // so that it cannot restart PostgreSQL
	kill(t, postmaster(t, dir), syscall.SIGKILL)
	_ = s.end(t, syscall.SIGKILL)

	c := startCluster(t, throwaway(dir))
	if got := text(t, c.URL(), "select note from notes"); got != "kept" {
		t.Errorf("note = %q", got)
	}
}

func TestStalePIDFile_WithReusedPID(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	s := startServer(t, dir)
	exec1(t, s.url, "create table notes as select 'kept' as note")
	kill(t, s.cmd.Process.Pid, syscall.SIGSTOP)
	old := postmaster(t, dir)
	kill(t, old, syscall.SIGKILL)
	_ = s.end(t, syscall.SIGKILL)

	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	replaceInPIDFile(t, dir, old, other.Process.Pid)

	c := startCluster(t, throwaway(dir))
	if got := text(t, c.URL(), "select note from notes"); got != "kept" {
		t.Errorf("note = %q", got)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other process: %v", err)
	}
}

func TestSIGTERM_EndsServerAndPostgres(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	s := startServer(t, dir)
	pid := postmaster(t, dir)
	if err := s.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("server: %v", err)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("PostgreSQL (process %d) lives on", pid)
	}
}

func TestStop_DuringRestart(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	c := startCluster(t, throwaway(dir))
	kill(t, postmaster(t, dir), syscall.SIGKILL)
	stopCluster(t, c)
	other := startCluster(t, throwaway(dir))
	if got := text(t, other.URL(), "select 'new'"); got != "new" {
		t.Errorf("answer %q", got)
	}
}

func TestReplacedDirectory_LeftAlone(t *testing.T) {
	t.Parallel()
	dir := newClusterDir(t)
	startCluster(t, throwaway(dir))
	pid := postmaster(t, dir)
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Fatal(err)
	}
	second := startCluster(t, throwaway(dir))
	kill(t, pid, syscall.SIGKILL) // the first must not restart in the second's directory
	if got := text(t, second.URL(), "select 'mine'"); got != "mine" {
		t.Errorf("answer %q", got)
	}
	other := postmaster(t, dir)
	stopCluster(t, second)
	if other == pid {
		t.Error("the second cluster is the first")
	}
	if _, err := os.Stat(filepath.Join(dir, "postgres/data/postmaster.pid")); !os.IsNotExist(err) {
		t.Errorf("somebody else runs there: %v", err)
	}
}

func kill(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("signal %v to %d: %v", sig, pid, err)
	}
}

// queryEventually repeats a query until it succeeds.
func queryEventually(t *testing.T, url, sql string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for ; ; <-again.C {
		value, err := query(ctx, url, sql)
		if err == nil {
			return value
		}
		if ctx.Err() != nil {
			t.Fatalf("no answer after %s: %v", testTimeout, err)
		}
	}
}

func waitFor(t *testing.T, url, sql, want string) {
	t.Helper()
	again, late := time.NewTicker(20*time.Millisecond), time.After(testTimeout)
	defer again.Stop()
	for text(t, url, sql) != want {
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("%s never gave %s", sql, want)
		}
	}
}

func replaceInPIDFile(t *testing.T, dir string, from, to int) {
	t.Helper()
	path := filepath.Join(dir, "postgres/data/postmaster.pid")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(content), strconv.Itoa(from), strconv.Itoa(to), 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}
