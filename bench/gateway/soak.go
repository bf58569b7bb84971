package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// soakRun makes calls of all kinds concurrently, from agents of both eras to servers that fail on purpose. Then
// it counts remaining resources and fails if there are any.
type soakRun struct {
	*bench
	agents     []*soakAgent
	lastNumber atomic.Int64 // call numbers are unique
	outcomes   outcomeLog
}

const soakAgents = 4

// soakServers are the connectors, named by the mock's path. In all but shared, each agent has its own account.
var soakServers = [3]string{"old", "modern", "shared"}

func (o options) runSoak(ctx context.Context) error {
	b, err := o.newBench()
	if err != nil {
		return err
	}
	s := &soakRun{bench: b}
	defer b.stopAll()
	if err := s.setUp(ctx); err != nil {
		return err
	}
	warm := min(max(o.calls/10, 1), 5000)
	if err := s.makeCalls(ctx, warm); err != nil {
		return err
	}
	r := &soakReport{made: o.calls}
	if r.before, err = s.waitForRest(ctx, nil); err != nil {
		return err
	}
	if err := s.callWithListeners(ctx, r, o.calls-warm); err != nil {
		return err
	}
	if r.after, err = s.waitForRest(ctx, &r.before); err != nil {
		return err
	}
	if r.atRest, err = s.mockStats(ctx); err != nil {
		return err
	}
	if s.profile != "" {
		if err := s.saveProfile(ctx, "heap", "soak-heap.pprof"); err != nil {
			return err
		}
	}
	if err := b.patchbay.stop(); err != nil {
		return fmt.Errorf("Patchbay ended: %w", err)
	}
	if r.atLast, err = s.mockStats(ctx); err != nil {
		return err
	}
	if err := s.compareOutcomes(ctx, r); err != nil {
		return err
	}
	return r.printTable(b.out)
}

// setUp starts the mock and Patchbay, and creates agents and connectors.
func (s *soakRun) setUp(ctx context.Context) (err error) {
	if s.upstream, err = s.startSelf(ctx, "mock"); err != nil {
		return err
	}
	if err := s.startPatchbay(ctx); err != nil {
		return err
	}
	for i := range soakAgents {
		a := &soakAgent{soakRun: s, slug: fmt.Sprintf("a%d", i), sessions: map[string]string{}}
		s.agents = append(s.agents, a)
		if err := s.callAPI(ctx, "POST", "/agents", map[string]any{"name": a.slug, "slug": a.slug, "approval": "auto"}, nil); err != nil {
			return err
		}
		var token struct{ Token string }
		if err := s.callAPI(ctx, "POST", "/agents/"+a.slug+"/tokens", map[string]any{}, &token); err != nil {
			return err
		}
		a.token = token.Token
	}
	for _, name := range soakServers {
		if err := s.addSoakConnector(ctx, name); err != nil {
			return err
		}
	}
	for _, a := range s.agents {
		if err := a.openSessions(ctx); err != nil {
			return err
		}
	}
	return nil
}

// addSoakConnector creates a connector with grants for all agents.
func (s *soakRun) addSoakConnector(ctx context.Context, name string) error {
	shared := name == "shared"
	put := map[string]any{"name": name, "slug": name, "url": s.upstream.address + "/" + name, "sync_interval_s": 0}
	if shared {
		put["auth"] = map[string]any{"type": "bearer", "token": "of-shared"}
	} else {
		put["auth"], put["credential_mode"] = map[string]any{"type": "bearer"}, "per_agent"
	}
	if err := s.callAPI(ctx, "POST", "/connectors", put, nil); err != nil {
		return err
	}
	for _, a := range s.agents {
		if err := s.callAPI(ctx, "PUT", "/agents/"+a.slug+"/connectors/"+name, map[string]any{"tools": "all"}, nil); err != nil {
			return err
		}
		if shared {
			continue
		}
		if err := s.callAPI(ctx, "PUT", "/connectors/"+name+"/agents/"+a.slug+"/credential", map[string]any{"token": "of-" + a.slug}, nil); err != nil {
			return err
		}
	}
	var sync any
	if !shared {
		sync = map[string]any{"agent": s.agents[0].slug}
	}
	return s.callAPI(ctx, "POST", "/connectors/"+name+"/sync_tools", sync, nil)
}

// callWithListeners makes calls while listener streams are open, and counts dropped streams.
func (s *soakRun) callWithListeners(ctx context.Context, r *soakReport, calls int) error {
	listeners := newListenerPool(s)
	defer listeners.closeStreams()
	if err := listeners.openStreams(ctx, s.listeners); err != nil {
		return err
	}
	began := time.Now()
	if err := s.makeCalls(ctx, calls); err != nil {
		return err
	}
	r.took, r.listeners = time.Since(began), s.listeners
	r.rate = float64(calls) / r.took.Seconds()
	r.dropped = listeners.closeStreams()
	return nil
}

// makeCalls makes n calls with all workers.
func (s *soakRun) makeCalls(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	last := s.lastNumber.Load() + int64(n)
	var workers sync.WaitGroup
	for range s.workers {
		workers.Go(func() {
			var w soakWorker
			for ctx.Err() == nil {
				number := s.lastNumber.Add(1)
				if number > last {
					return
				}
				if number%100_000 == 0 {
					fmt.Fprintf(s.out, "%d calls\n", number)
				}
				if err := w.makeCall(ctx, s, number); err != nil && ctx.Err() == nil {
					cancel(fmt.Errorf("call %d: %w", number, err))
				}
			}
		})
	}
	workers.Wait()
	s.lastNumber.Store(last)
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return ctx.Err()
}
