//go:build e2e

package postgres_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"patchbay/internal/safe"
)

// panickingLog panics once at the supervisor's message that PostgreSQL ended.
type panickingLog struct {
	slog.Handler
	panics *atomic.Bool
}

func (l panickingLog) Enabled(context.Context, slog.Level) bool { return true }

func (l panickingLog) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "PostgreSQL exited") && l.panics.CompareAndSwap(true, false) {
		panic("of a test")
	}
	return nil
}

// The goroutine that restarts PostgreSQL panics while PostgreSQL is dead.
func TestSupervisor_PanicStartsItAgain(t *testing.T) {
	dir := newClusterDir(t)
	o, panics := throwaway(dir), &atomic.Bool{}
	o.Log = slog.New(panickingLog{slog.DiscardHandler, panics})
	panics.Store(true)
	c := startCluster(t, o)
	exec1(t, c.URL(), "create table notes as select 'kept' as note")
	before := safe.Count(safe.Background)
	kill(t, postmaster(t, dir), syscall.SIGKILL)
	if got := queryEventually(t, c.URL(), "select note from notes"); got != "kept" {
		t.Errorf("note = %q", got)
	}
	if n := safe.Count(safe.Background) - before; n < 1 {
		t.Errorf("%d panics are counted", n)
	}
	stopCluster(t, c)
	if err := c.Err(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
