//go:build soak

package main

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
)

// memoryDir is a directory in memory, if there is room: syncing to a disk takes most of PostgreSQL's start.
func memoryDir(t *testing.T) string {
	t.Helper()
	const parent, room = "/dev/shm", 2 << 30
	var stat syscall.Statfs_t
	if err := syscall.Statfs(parent, &stat); err != nil || stat.Bavail*uint64(stat.Bsize) < room { //nolint:gosec // never negative
		return ""
	}
	return parent
}

func TestRun_LosesNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-home", memoryDir(t), "-time", "10s", "-replicas", "2"}, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, row := range []string{"| acknowledged writes lost | 0 | 0 |", "| audit chains verified | 2 | 2 |", "| chains of calls' outcomes verified | 2 | 2 |", "| gateway, SSE |", "| gateway, with a session (2025-11-25) |", "| dashboard, forms |", "| authorization server, tokens |", "| an admin's assistant (/mcp/admin) |", "| single sign-on |",
		"| webhooks, received |"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("the tables have no %q:\n%s", row, out.String())
		}
	}
}

func TestRun_ClockJumpsLoseNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-home", memoryDir(t), "-time", "4s", "-replicas", "2", "-only", "clock"}, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, row := range []string{"| process 1's clock jumps an hour ahead | 1 |", "| all processes' clocks jump ten minutes back | 1 |", "| acknowledged writes lost | 0 | 0 |"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("the tables have no %q:\n%s", row, out.String())
		}
	}
}
