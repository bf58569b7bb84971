package safe

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of the wait before a loop starts again.
const (
	minWait = time.Second
	maxWait = time.Minute
)

// LoopState is what became of a background loop that has panicked.
type LoopState struct {
	Name    string
	Panics  int       // since the process began
	Last    time.Time // the last of them
	Waiting bool      // to be started again
}

var loops = struct {
	sync.Mutex
	states map[string]*LoopState
}{states: map[string]*LoopState{}}

// RunLoop runs f until it returns. Where f panics, it starts again after a wait that doubles from one second to one minute, less up to half
// of it, until ctx ends. A loop that ran for longer than the longest wait begins with the shortest one.
func RunLoop(ctx context.Context, name string, f func(context.Context)) {
	for wait := minWait; ctx.Err() == nil; wait = min(2*wait, maxWait) {
		began := time.Now()
		if !panics(ctx, name, f) {
			return
		}
		if time.Since(began) > maxWait {
			wait = minWait
		}
		loopPanicked(name)
		select {
		case <-ctx.Done():
		case <-time.After(wait - rand.N(wait/2)): //nolint:gosec // it need not be secret
		}
		loopStarts(name)
	}
}

// panics runs f, and reports whether it panicked.
func panics(ctx context.Context, name string, f func(context.Context)) (panicked bool) {
	defer func() {
		if v := recover(); v != nil {
			_ = Caught(Background, v, slog.String("loop", name))
			panicked = true
		}
	}()
	f(ctx)
	return false
}

func loopPanicked(name string) {
	loops.Lock()
	defer loops.Unlock()
	s := loops.states[name]
	if s == nil {
		s = &LoopState{Name: name}
		loops.states[name] = s
	}
	s.Panics++
	s.Last, s.Waiting = time.Now(), true
}

func loopStarts(name string) {
	loops.Lock()
	defer loops.Unlock()
	loops.states[name].Waiting = false
}

// WaitingLoops is how many background loops wait to start again.
func WaitingLoops() (n int) {
	for _, s := range Loops() {
		if s.Waiting {
			n++
		}
	}
	return n
}

// Loops are the background loops that have panicked, by name.
func Loops() []LoopState {
	loops.Lock()
	defer loops.Unlock()
	var all []LoopState
	for _, s := range loops.states {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b LoopState) int { return strings.Compare(a.Name, b.Name) })
	return all
}
