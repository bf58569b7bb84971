package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/jobs"
)

// pausingServer serves the first lists, and holds the others until goOn.
type pausingServer struct {
	first, all  int64
	asked       atomic.Int64
	there, over chan struct{} // closed after the first lists, and after all
	free        chan struct{}
	goOn        func()
}

func newPausingServer(t *testing.T, first, all int) *pausingServer {
	t.Helper()
	h := &pausingServer{first: int64(first), all: int64(all), there: make(chan struct{}), over: make(chan struct{}), free: make(chan struct{})}
	h.goOn = sync.OnceFunc(func() { close(h.free) })
	t.Cleanup(h.goOn)
	return h
}

func (h *pausingServer) waitForTurn(r *http.Request) {
	n := h.asked.Add(1)
	if n > h.first {
		select {
		case <-h.free:
		case <-r.Context().Done():
		}
	}
	switch n {
	case h.first:
		close(h.there)
	case h.all:
		close(h.over)
	}
}

// waitFor waits with a timeout for a thousand connectors on a busy machine.
func waitFor(t *testing.T, what <-chan struct{}) {
	t.Helper()
	select {
	case <-what:
	case <-time.After(3 * time.Minute):
		t.Fatal("the syncs take too long")
	}
}

// runWorkers runs job workers beside the dashboard until the test ends.
func (d *dashboard) runWorkers() {
	d.t.Helper()
	runner, err := jobs.New(jobs.Options{Pool: d.Pool, ListenPool: d.Pool, Syncer: d.syncer, Due: d.St.System().Syncs().DueShards})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := runner.Start(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(d.t.Context()), time.Minute)
		defer cancel()
		if err := runner.Stop(ctx); err != nil {
			d.t.Errorf("stop the workers: %v", err)
		}
	})
}

// groupThousands formats a number below a million as the dashboard does.
func groupThousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
