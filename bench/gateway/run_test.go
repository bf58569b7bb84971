//go:build soak

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

func TestRun_FailsAboveTheRatioOfAPICalls(t *testing.T) {
	t.Parallel()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = run(t.Context(), []string{"run", "-only", "api", "-rounds", "1", "-calls", "100", "-max-api-ratio", "0.01", "-patchbay", path, "-home", memory(t)}, &out)
	if err == nil || !strings.Contains(err.Error(), "at most 0.01 is allowed") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestRun_PrintsAllRows(t *testing.T) {
	t.Parallel()
	out := command(t, "run", "-rounds", "1", "-calls", "100", "-listeners", "8")
	for _, row := range []string{
		"| tools/call, 1 KB JSON |", "| tools/call, 10 KB SSE |", "| tools/call, 100 KiB SSE |", "| a call of an API, 10 KB of JSON |", "| tools/list, 1 000 tools |",
		"| 8, subscriptions/listen of 2026-07-28 |", "| 8, GET streams of 2025-11-25",
	} {
		if !strings.Contains(out, row) {
			t.Errorf("there is no row %q:\n%s", row, out)
		}
	}
}
