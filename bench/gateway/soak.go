package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// soak makes many calls of all kinds at once, as several agents of both eras, to several servers, some of which go wrong on purpose. Then
// it tells what is left behind, and fails where anything is.
type soak struct {
	*bench
	agents []*soakAgent
	next   atomic.Int64 // the number of the last call; each is used once
	fates  fates
}

// soakAgents is how many agents there are.
const soakAgents = 4

// soakServers are the connectors, by the path at the mock: in two, each agent has an account of its own.
var soakServers = [3]string{"old", "modern", "shared"}

func (o options) soak(ctx context.Context) error {
	b, err := o.open()
	if err != nil {
		return err
	}
	s := &soak{bench: b}
	defer b.end()
	if err := s.furnish(ctx); err != nil {
		return err
	}
	warm := min(max(o.calls/10, 1), 5000)
	if err := s.run(ctx, warm); err != nil {
		return err
	}
	r := &report{made: o.calls}
	if r.before, err = s.settled(ctx, nil); err != nil {
		return err
	}
	if err := s.underListeners(ctx, r, o.calls-warm); err != nil {
		return err
	}
	if r.after, err = s.settled(ctx, &r.before); err != nil {
		return err
	}
	if r.atRest, err = s.seen(ctx); err != nil {
		return err
	}
	if s.profile != "" {
		if err := s.fetch(ctx, "heap", "soak-heap.pprof"); err != nil {
			return err
		}
	}
	if err := b.patchbay.end(); err != nil {
		return fmt.Errorf("Patchbay ended: %w", err)
	}
	if r.atLast, err = s.seen(ctx); err != nil {
		return err
	}
	if err := s.compare(ctx, r); err != nil {
		return err
	}
	return r.judge(b.out)
}

// furnish starts the mock and Patchbay, and sets up who calls what.
func (s *soak) furnish(ctx context.Context) (err error) {
	if s.upstream, err = s.startSelf(ctx, "mock"); err != nil {
		return err
	}
	if err := s.startPatchbay(ctx); err != nil {
		return err
	}
	for i := range soakAgents {
		a := &soakAgent{soak: s, slug: fmt.Sprintf("a%d", i), sessions: map[string]string{}}
		s.agents = append(s.agents, a)
		if err := s.api(ctx, "POST", "/agents", map[string]any{"name": a.slug, "slug": a.slug, "approval": "auto"}, nil); err != nil {
			return err
		}
		var token struct{ Token string }
		if err := s.api(ctx, "POST", "/agents/"+a.slug+"/tokens", map[string]any{}, &token); err != nil {
			return err
		}
		a.token = token.Token
	}
	for _, name := range soakServers {
		if err := s.offer(ctx, name); err != nil {
			return err
		}
	}
	for _, a := range s.agents {
		if err := a.begin(ctx); err != nil {
			return err
		}
	}
	return nil
}

// offer makes a connector that all agents may use.
func (s *soak) offer(ctx context.Context, name string) error {
	shared := name == "shared"
	put := map[string]any{"name": name, "slug": name, "url": s.upstream.address + "/" + name, "sync_interval_s": 0}
	if shared {
		put["auth"] = map[string]any{"type": "bearer", "token": "of-shared"}
	} else {
		put["auth"], put["credential_mode"] = map[string]any{"type": "bearer"}, "per_agent"
	}
	if err := s.api(ctx, "POST", "/connectors", put, nil); err != nil {
		return err
	}
	for _, a := range s.agents {
		if err := s.api(ctx, "PUT", "/agents/"+a.slug+"/connectors/"+name, map[string]any{"tools": "all"}, nil); err != nil {
			return err
		}
		if shared {
			continue
		}
		if err := s.api(ctx, "PUT", "/connectors/"+name+"/agents/"+a.slug+"/credential", map[string]any{"token": "of-" + a.slug}, nil); err != nil {
			return err
		}
	}
	var sync any
	if !shared {
		sync = map[string]any{"agent": s.agents[0].slug}
	}
	return s.api(ctx, "POST", "/connectors/"+name+"/sync_tools", sync, nil)
}

// underListeners makes calls while others listen, and nobody loses a stream.
func (s *soak) underListeners(ctx context.Context, r *report, calls int) error {
	crowd := newCrowd(s)
	defer crowd.leave()
	if err := crowd.join(ctx, s.listeners); err != nil {
		return err
	}
	began := time.Now()
	if err := s.run(ctx, calls); err != nil {
		return err
	}
	r.took, r.listeners = time.Since(began), s.listeners
	r.rate = float64(calls) / r.took.Seconds()
	r.dropped = crowd.leave()
	return nil
}

// run makes n calls, so many at a time.
func (s *soak) run(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	last := s.next.Load() + int64(n)
	var workers sync.WaitGroup
	for range s.workers {
		workers.Go(func() {
			var w soakWorker
			for ctx.Err() == nil {
				number := s.next.Add(1)
				if number > last {
					return
				}
				if number%100_000 == 0 {
					fmt.Fprintf(s.out, "%d calls\n", number)
				}
				if err := w.call(ctx, s, number); err != nil && ctx.Err() == nil {
					cancel(fmt.Errorf("call %d: %w", number, err))
				}
			}
		})
	}
	workers.Wait()
	s.next.Store(last)
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return ctx.Err()
}
