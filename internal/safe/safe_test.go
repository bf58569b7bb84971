package safe_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"patchbay/internal/safe"
)

var written lockedBuffer // the log of all tests

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) lines(with string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		if strings.Contains(line, with) {
			n++
		}
	}
	return n
}

func TestMain(m *testing.M) {
	safe.SetLogger(slog.New(slog.NewJSONHandler(&written, nil)))
	os.Exit(m.Run())
}

// secretive is a panic's value that must not be logged.
type secretive struct{ secret string }

func explode() { panic(secretive{"planted-secret"}) }

func TestPanicIsLoggedOnceWithItsStack(t *testing.T) {
	before := safe.Count(safe.View)
	var group sync.WaitGroup
	safe.GoIn(&group, safe.View, explode)
	group.Wait()
	if n := written.lines(`"kind":"view"`); n != 1 {
		t.Errorf("%d lines", n)
	}
	if written.lines(`"panic":"safe_test.secretive"`) == 0 || written.lines("safe_test.explode") == 0 || written.lines("planted-secret") > 0 {
		t.Errorf("the log is %s", written.b.String())
	}
	if n := safe.Count(safe.View) - before; n != 1 {
		t.Errorf("%d panics are counted", n)
	}
}

func TestDescribe_RuntimeErrorIsTold(t *testing.T) {
	t.Parallel()
	defer func() {
		if text := safe.Describe(recover()); !strings.Contains(text, "nil pointer dereference") {
			t.Errorf("text = %q", text)
		}
	}()
	var s *secretive
	_ = s.secret //nolint:govet // the panic that is tested
}

func TestGoReturnsWhenItsFunctionPanics(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(done)
		explode()
	})
	<-done
}

func TestTryMakesAPanicAnError(t *testing.T) {
	t.Parallel()
	var group errgroup.Group
	group.Go(safe.Try(safe.Call, func() error { explode(); return nil }))
	err := group.Wait()
	caught, ok := errors.AsType[*safe.Error](err)
	if !ok || !safe.IsPanic(err) || caught.Kind != safe.Call || strings.Contains(err.Error(), "planted") {
		t.Errorf("error = %v", err)
	}
	if err := safe.Try(safe.Call, func() error { return context.Canceled })(); !errors.Is(err, context.Canceled) || safe.IsPanic(err) {
		t.Errorf("error = %v", err)
	}
}

func TestFuncProtectsTimersAndContexts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		before := safe.Count(safe.Timer)
		time.AfterFunc(time.Second, safe.Func(safe.Timer, explode))
		ctx, cancel := context.WithCancel(t.Context())
		context.AfterFunc(ctx, safe.Func(safe.Timer, explode))
		cancel()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := safe.Count(safe.Timer) - before; n != 2 {
			t.Errorf("%d panics are counted", n)
		}
	})
}

func TestRunLoopStartsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var starts []time.Time
		var group sync.WaitGroup
		safe.GoIn(&group, safe.Background, func() {
			safe.RunLoop(ctx, "a loop of a test", func(ctx context.Context) {
				if starts = append(starts, time.Now()); len(starts) <= 10 {
					explode()
				}
				<-ctx.Done()
			})
		})
		synctest.Wait()
		state := func() safe.LoopState {
			for _, s := range safe.Loops() {
				if s.Name == "a loop of a test" {
					return s
				}
			}
			return safe.LoopState{}
		}
		if safe.WaitingLoops() == 0 {
			t.Error("no loop waits")
		}
		if s := state(); s.Panics != 1 || !s.Waiting || !s.Last.Equal(time.Now()) {
			t.Errorf("state = %+v", s)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if s := state(); len(starts) != 11 || s.Panics != 10 || s.Waiting {
			t.Errorf("%d starts, state = %+v", len(starts), s)
		}
		for i, wait := 1, time.Second; i < len(starts); i, wait = i+1, min(2*wait, time.Minute) {
			if took := starts[i].Sub(starts[i-1]); took > wait || took < wait/2 {
				t.Errorf("wait %d is %s, at most %s is right", i, took, wait)
			}
		}
		cancel()
		group.Wait()
	})
}

func TestRunLoopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	safe.RunLoop(ctx, "a loop that ends", func(context.Context) {
		cancel()
		explode()
	})
}

func TestKindsHaveDistinctNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range safe.Kinds() {
		if seen[k.String()] || k.String() == "" || k.String() == "unknown" {
			t.Errorf("kind %d is named %q", k, k)
		}
		seen[k.String()] = true
	}
	if len(seen) < 10 {
		t.Errorf("%d kinds", len(seen))
	}
}

func BenchmarkRecover(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		func() { defer safe.Recover(safe.Call) }()
	}
}
