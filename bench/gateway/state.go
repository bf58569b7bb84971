package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processState is Patchbay's resource use at rest.
type processState struct {
	goroutines int64
	listening  int64 // listener streams to servers
	sockets    int64
	resident   int64 // bytes, with garbage
	heap       int64 // bytes after a collection
	stacks     int64 // bytes
}

// Connections of idle agents and their goroutines take time to close.
const (
	maxRestWait  = time.Minute
	pollInterval = 500 * time.Millisecond

	maxMemoryDrift = 1 << 20 // bytes between two samples
)

// waitForRest samples the state until goroutines and memory are stable, for at most a minute. The call log is
// written after the calls.
func (s *soakRun) waitForRest(ctx context.Context, before *processState) (now processState, err error) {
	s.load.client.CloseIdleConnections()
	look := time.NewTicker(pollInterval)
	defer look.Stop()
	last := processState{goroutines: -1}
	for began := time.Now(); ; {
		if now, err = s.readState(ctx); err != nil {
			return now, err
		}
		stats, err := s.mockStats(ctx)
		if err != nil {
			return now, err
		}
		now.listening = stats.Listening
		still := before == nil && now.goroutines == last.goroutines || before != nil && now.goroutines <= before.maxGoroutines(now)
		still = still && max(now.heap-last.heap, last.heap-now.heap) <= maxMemoryDrift && stats.Open == 0 && stats.Streams == 0
		if still || time.Since(began) > maxRestWait {
			return now, nil
		}
		last = now
		select {
		case <-look.C:
		case <-ctx.Done():
			return now, ctx.Err()
		}
	}
}

// maxGoroutines bounds the goroutines of a later state. A stream to a server has up to three.
func (s processState) maxGoroutines(later processState) int64 {
	return s.goroutines + moreGoroutines + 3*max(0, later.listening-s.listening)
}

// readState samples Patchbay from outside over short-lived connections.
func (b *bench) readState(ctx context.Context) (now processState, err error) {
	if now.resident, err = b.patchbay.residentMemory(); err != nil { // before the collection
		return now, err
	}
	for range 2 { // sync.Pool survives one collection
		if _, err = b.profileText(ctx, "heap?gc=1"); err != nil {
			return now, err
		}
	}
	figures, err := b.getPrivate(ctx, "/metrics")
	if err != nil {
		return now, err
	}
	now.goroutines = numberAfter(figures, "go_goroutines ")
	now.heap, now.stacks = numberAfter(figures, "go_memstats_heap_inuse_bytes "), numberAfter(figures, "go_memstats_stack_inuse_bytes ")
	now.sockets = b.patchbay.countSockets()
	return now, nil
}

func (b *bench) profileText(ctx context.Context, what string) (string, error) {
	return b.getPrivate(ctx, "/debug/pprof/"+what)
}

// getPrivate requests a path at the private address.
func (b *bench) getPrivate(ctx context.Context, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.privateAddress+path, nil)
	if err != nil {
		return "", err
	}
	r.Close = true
	return b.readResponse(r)
}

// numberAfter returns the number after a line's prefix, which may be written as 1.2e+07.
func numberAfter(text, what string) int64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, what); ok {
			n, _ := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return int64(n)
		}
	}
	return 0
}

// countSockets returns the number of open sockets.
func (p *serverProcess) countSockets() (n int64) {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
