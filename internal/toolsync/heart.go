package toolsync

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	beatInterval = 2 * time.Second // the store takes a process for dead after 6 s of silence
	beatTimeout  = 2 * time.Second
	endTimeout   = 2 * time.Second
)

// leftover is a run whose end could not be stored.
type leftover struct {
	tenant connectors.TenantID
	run    connectors.SyncRunID
	err    connectors.SyncError
	seen   store.Seen
	panics int // of storing it
}

// maxPanics is how often storing the same end may panic before it is given up: the run ends with its process then.
const maxPanics = 3

// heart is the life of this process as the database knows it: while it beats, the process's runs are its own; where it is
// silent, the others close them.
type heart struct {
	ending context.Context // ends when no run may begin any more
	end    context.CancelFunc
	cutOff context.Context // ends when runs are cut off
	cut    context.CancelFunc
	beats  sync.WaitGroup
	halt   context.CancelFunc // of the beats; nil: not started

	mu        sync.Mutex
	closed    bool           // guarded by mu: no run may begin
	runs      sync.WaitGroup // Add only under mu and while not closed
	leftovers []leftover     // guarded by mu
}

func (h *heart) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.runs.Add(1)
	return true
}

func (h *heart) leave() { h.runs.Done() }

func (h *heart) later(all ...leftover) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leftovers = append(h.leftovers, all...)
}

func (h *heart) takeLeftovers() []leftover {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.leftovers
	h.leftovers = nil
	return all
}

// Instance is this process, as the database knows it.
func (s *Syncer) Instance() connectors.InstanceID { return s.instance }

// Start makes this process known as alive and keeps it so, every two seconds, until Stop. It returns after the first beat:
// runs that dead processes left behind are closed by then.
func (s *Syncer) Start(ctx context.Context) error {
	if err := s.store.System().Beat(ctx, s.instance); err != nil {
		return fmt.Errorf("make this process known: %w", err)
	}
	beating, halt := context.WithCancel(context.WithoutCancel(ctx))
	s.heart.halt = halt
	safe.GoIn(&s.heart.beats, safe.Background, func() { safe.RunLoop(beating, "heartbeat", s.beat) })
	return nil
}

func (s *Syncer) beat(ctx context.Context) {
	tick := time.NewTicker(beatInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.beatOnce(ctx)
		}
	}
}

func (s *Syncer) beatOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	if err := s.store.System().Beat(ctx, s.instance); err != nil {
		if ctx.Err() != context.Canceled {
			s.log.WarnContext(ctx, "heartbeat failed", slog.Any("error", err))
		}
		return
	}
	// A panic of what follows must not make the heartbeat wait: the process would be taken for dead.
	safe.Func(safe.Sync, func() { s.releaseForgotten(ctx) })()
	for _, l := range s.heart.takeLeftovers() {
		s.closeLeftover(ctx, l)
	}
}

// closeLeftover stores the end of a run, or leaves it to the next beat.
func (s *Syncer) closeLeftover(ctx context.Context, l leftover) {
	err := safe.Try(safe.Sync, func() error { _, err := s.fail(ctx, l); return err })()
	if safe.IsPanic(err) {
		l.panics++
	}
	if err != nil && !over(err) && l.panics < maxPanics {
		s.heart.later(l)
	}
}

// Drain ends the syncing of this process: no run begins any more; those under way may end by themselves until ctx is done,
// and are then cut off, which their rows say. Call it before waiting for the doors and the workers, which wait for their
// runs. The process is still known to be alive.
func (s *Syncer) Drain(ctx context.Context) {
	s.heart.mu.Lock()
	s.heart.closed = true
	s.heart.mu.Unlock()
	s.heart.end()
	ended := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(ended)
		s.heart.runs.Wait()
	})
	select {
	case <-ended:
	case <-ctx.Done():
		s.heart.cut()
		<-ended // bounded by saveTime
	}
}

// Stop is Drain, and makes known that this process ends: what it leaves unfinished is closed, agents' calls too. Call it when nothing
// goes on any more.
func (s *Syncer) Stop(ctx context.Context) {
	s.Drain(ctx)
	if s.heart.halt == nil {
		return
	}
	s.heart.halt()
	s.heart.beats.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := s.store.System().EndInstance(ctx, s.instance); err != nil {
		s.log.WarnContext(ctx, "end of this process not stored", slog.Any("error", err))
	}
}
