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
	heartbeatInterval = 2 * time.Second // the store declares a process dead after 6 s without one
	heartbeatTimeout  = 2 * time.Second
	stopTimeout       = 2 * time.Second
)

// unsavedRun is a failed run with an end that is not stored yet.
type unsavedRun struct {
	tenant connectors.TenantID
	run    connectors.SyncRunID
	err    connectors.SyncError
	seen   store.ServerObservation
	panics int // while storing it
}

// maxSavePanics is the number of panics after which storing an end is given up. Such a run ends with its
// process.
const maxSavePanics = 3

// heartbeat keeps the row of this process alive in the database. Other processes end the runs of a process
// whose row is stale.
type heartbeat struct {
	draining      context.Context // done when no run may begin
	startDraining context.CancelFunc
	aborted       context.Context // done when active runs are aborted
	abortRuns     context.CancelFunc
	loop          sync.WaitGroup
	stopLoop      context.CancelFunc // nil: not started

	mu      sync.Mutex
	closed  bool           // guarded by mu; no run may begin
	runs    sync.WaitGroup // Add only under mu and while not closed
	unsaved []unsavedRun   // guarded by mu
}

func (h *heartbeat) beginRun() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.runs.Add(1)
	return true
}

func (h *heartbeat) endRun() { h.runs.Done() }

func (h *heartbeat) addUnsaved(all ...unsavedRun) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unsaved = append(h.unsaved, all...)
}

func (h *heartbeat) takeUnsaved() []unsavedRun {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.unsaved
	h.unsaved = nil
	return all
}

// Instance is the id of this process in the database.
func (s *Syncer) Instance() connectors.InstanceID { return s.instance }

// Start registers this process and sends a heartbeat every two seconds until Stop. It returns after the first
// one, which has ended the runs of dead processes.
func (s *Syncer) Start(ctx context.Context) error {
	if err := s.store.System().Syncs().Heartbeat(ctx, s.instance); err != nil {
		return fmt.Errorf("make this process known: %w", err)
	}
	loopCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.heartbeat.stopLoop = stop
	safe.GoIn(&s.heartbeat.loop, safe.Background, func() { safe.RunLoop(loopCtx, "heartbeat", s.heartbeatLoop) })
	return nil
}

func (s *Syncer) heartbeatLoop(ctx context.Context) {
	tick := time.NewTicker(heartbeatInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.sendHeartbeat(ctx)
		}
	}
}

func (s *Syncer) sendHeartbeat(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	if err := s.store.System().Syncs().Heartbeat(ctx, s.instance); err != nil {
		if ctx.Err() != context.Canceled {
			s.log.WarnContext(ctx, "heartbeat failed", slog.Any("error", err))
		}
		return
	}
	// A panic below must not delay the heartbeat, or the process would count as dead.
	safe.Func(safe.Sync, func() { s.releaseUnknownClaims(ctx) })()
	safe.Func(safe.Sync, func() { s.abortCancelled(ctx) })()
	for _, unsaved := range s.heartbeat.takeUnsaved() {
		s.retryUnsaved(ctx, unsaved)
	}
}

// retryUnsaved stores the end of a run, or leaves it to the next heartbeat.
func (s *Syncer) retryUnsaved(ctx context.Context, unsaved unsavedRun) {
	err := safe.Try(safe.Sync, func() error { _, err := s.storeFailure(ctx, unsaved); return err })()
	if safe.IsPanic(err) {
		unsaved.panics++
	}
	if err != nil && !isRunClosed(err) && unsaved.panics < maxSavePanics {
		s.heartbeat.addUnsaved(unsaved)
	}
}

// Drain lets no run begin and waits for the active ones. When ctx is done it aborts them, and their rows say
// so. Call it before waiting for HTTP handlers and workers, which wait for their runs. Heartbeats continue.
func (s *Syncer) Drain(ctx context.Context) {
	s.heartbeat.mu.Lock()
	s.heartbeat.closed = true
	s.heartbeat.mu.Unlock()
	s.heartbeat.startDraining()
	ended := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(ended)
		s.heartbeat.runs.Wait()
	})
	select {
	case <-ended:
	case <-ctx.Done():
		s.heartbeat.abortRuns()
		<-ended // bounded by saveTime
	}
}

// Stop drains, stops the heartbeat and ends the instance in the database, with its unfinished runs and calls.
// Call it when no other work is active.
func (s *Syncer) Stop(ctx context.Context) {
	s.Drain(ctx)
	if s.heartbeat.stopLoop == nil {
		return
	}
	s.heartbeat.stopLoop()
	s.heartbeat.loop.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := s.store.System().Syncs().EndInstance(ctx, s.instance); err != nil {
		s.log.WarnContext(ctx, "end of this process not stored", slog.Any("error", err))
	}
}
