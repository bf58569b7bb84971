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

// state is what Patchbay holds while nothing happens.
type state struct {
	goroutines int64
	listening  int64 // streams on which it hears what servers say by themselves
	sockets    int64
	resident   int64 // bytes, garbage among them
	heap       int64 // bytes in use, after a collection
	stacks     int64 // bytes, likewise
}

// How long what calls leave behind may take to go: an idle agent's connection lingers with its goroutine.
const (
	settleTime = time.Minute
	lookEvery  = 500 * time.Millisecond

	stillMemory = 1 << 20 // bytes that may differ between two looks
)

// settled is the state at rest: when goroutines are no more than they were, give or take few, or, at first, as many as half a second ago,
// and memory is what it was then, for the history is written behind the calls; at the latest after a minute.
func (s *soak) settled(ctx context.Context, before *state) (now state, err error) {
	s.load.client.CloseIdleConnections()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	last := state{goroutines: -1}
	for began := time.Now(); ; {
		if now, err = s.state(ctx); err != nil {
			return now, err
		}
		stats, err := s.seen(ctx)
		if err != nil {
			return now, err
		}
		now.listening = stats.Listening
		still := before == nil && now.goroutines == last.goroutines || before != nil && now.goroutines <= before.mostGoroutines(now)
		still = still && max(now.heap-last.heap, last.heap-now.heap) <= stillMemory && stats.Open == 0 && stats.Streams == 0
		if still || time.Since(began) > settleTime {
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

// mostGoroutines is how many there may be later: a stream to a server has up to three, and sessions come and go.
func (s state) mostGoroutines(later state) int64 {
	return s.goroutines + moreGoroutines + 3*max(0, later.listening-s.listening)
}

// state looks at Patchbay from outside, over connections that it does not keep.
func (b *bench) state(ctx context.Context) (now state, err error) {
	if now.resident, err = b.patchbay.memory(); err != nil { // with what has not been collected
		return now, err
	}
	for range 2 { // what lies in pools survives one collection
		if _, err = b.profileText(ctx, "heap?gc=1"); err != nil {
			return now, err
		}
	}
	figures, err := b.aside(ctx, "/metrics")
	if err != nil {
		return now, err
	}
	now.goroutines = numberAfter(figures, "go_goroutines ")
	now.heap, now.stacks = numberAfter(figures, "go_memstats_heap_inuse_bytes "), numberAfter(figures, "go_memstats_stack_inuse_bytes ")
	now.sockets = b.patchbay.sockets()
	return now, nil
}

func (b *bench) profileText(ctx context.Context, what string) (string, error) {
	return b.aside(ctx, "/debug/pprof/"+what)
}

// aside asks at the private address.
func (b *bench) aside(ctx context.Context, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.private+path, nil)
	if err != nil {
		return "", err
	}
	r.Close = true
	return b.textOf(r)
}

// numberAfter reads the rest of the line that begins with what; a metric may be written as 1.2e+07.
func numberAfter(text, what string) int64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, what); ok {
			n, _ := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return int64(n)
		}
	}
	return 0
}

// sockets counts the process' open sockets.
func (p *process) sockets() (n int64) {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}
