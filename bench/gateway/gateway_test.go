//go:build e2e

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// binary builds the measured program once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "patchbay-bench-program-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "patchbay")
	out, err := exec.Command("go", "build", "-o", path, "patchbay/cmd/server").CombinedOutput()
	if err != nil {
		return path, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

// TestMain also runs the servers, because the bench starts its own executable.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
		return
	}
	code := m.Run()
	if path, err := binary(); path != "" && (err == nil || code != 0) {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// command runs the bench with the real program and returns its output.
func command(t *testing.T, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real processes")
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args = append(args, "-patchbay", path, "-home", memory(t))
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return out.String()
}

// memory returns a directory in /dev/shm if that has room, because fsync dominates the start of PostgreSQL.
func memory(t *testing.T) string {
	t.Helper()
	const parent, room = "/dev/shm", 2 << 30
	var stat syscall.Statfs_t
	if err := syscall.Statfs(parent, &stat); err != nil || stat.Bavail*uint64(stat.Bsize) < room { //nolint:gosec // never negative
		return ""
	}
	dir, err := os.MkdirTemp(parent, "pb-bench-")
	if err := errors.Join(err, os.Chmod(dir, 0o711)); err != nil { //nolint:gosec // PostgreSQL runs as another user where we are root
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestSoak_SmallRun(t *testing.T) {
	t.Parallel()
	out := command(t, "soak", "-calls", "3000", "-listeners", "16")
	if !strings.Contains(out, "| answered, failed as they had to, or cancelled | 3000 | 3000 |") {
		t.Errorf("the table is not what a soak of 3000 calls has:\n%s", out)
	}
}

func TestRun_PrintsAllRows(t *testing.T) {
	t.Parallel()
	out := command(t, "run", "-rounds", "1", "-calls", "100", "-listeners", "8")
	for _, row := range []string{
		"| tools/call, 1 KB JSON |", "| tools/call, 10 KB SSE |", "| tools/call, 100 KiB SSE |", "| tools/list, 1 000 tools |",
		"| 8, subscriptions/listen of 2026-07-28 |", "| 8, GET streams of 2025-11-25",
	} {
		if !strings.Contains(out, row) {
			t.Errorf("there is no row %q:\n%s", row, out)
		}
	}
}

func TestSoakReport_DetectsFaults(t *testing.T) {
	t.Parallel()
	good := func() *soakReport {
		return &soakReport{
			made: 100, answered: 97, failed: 2, cancelled: 1, cut: 2,
			atLast: mockStats{Calls: 100, Opened: 5, Forgotten: 2, Deleted: 3, Cancelled: 1},
		}
	}
	if err := good().printTable(&bytes.Buffer{}); err != nil {
		t.Fatalf("a report without a fault is judged %v", err)
	}
	for what, spoil := range map[string]func(*soakReport){
		"a lost reply":                       func(r *soakReport) { r.answered-- },
		"a failure of a call that ran":       func(r *soakReport) { r.executedFailures++ },
		"a failure without a reason":         func(r *soakReport) { r.answered, r.failed = r.answered-1, r.failed+1 },
		"a second call":                      func(r *soakReport) { r.atLast.Calls, r.atLast.Twice = 101, 1 },
		"a call of nobody's that came again": func(r *soakReport) { r.atLast.Calls, r.atLast.Again = 101, 1 },
		"a call that never came":             func(r *soakReport) { r.atLast.Calls-- },
		"a session that stays":               func(r *soakReport) { r.atLast.Left++ },
		"another one's session":              func(r *soakReport) { r.atLast.Foreign++ },
		"a call that stays open":             func(r *soakReport) { r.atRest.Open++ },
		"a reply that stays open":            func(r *soakReport) { r.atRest.Streams++ },
		"a stream that stays":                func(r *soakReport) { r.atLast.Listening++ },
		"a cancellation that got lost":       func(r *soakReport) { r.atLast.Cancelled, r.atLast.Abandoned = 0, 1 },
		"a listener that lost its line":      func(r *soakReport) { r.dropped++ },
		"goroutines":                         func(r *soakReport) { r.after.goroutines = moreGoroutines + 1 },
		"goroutines beside streams":          func(r *soakReport) { r.after.goroutines, r.after.listening = moreGoroutines+7, 2 },
		"sockets":                            func(r *soakReport) { r.after.sockets = moreSockets + 1 },
	} {
		r := good()
		spoil(r)
		if r.printTable(&bytes.Buffer{}) == nil {
			t.Errorf("%s passes", what)
		}
	}
}
