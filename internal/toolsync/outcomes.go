package toolsync

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Batching of outcomes: one statement holds all that came while the previous one ran, and during batchDelay.
const (
	batchDelay      = 4 * time.Millisecond
	maxBatch        = 128
	storeRetryDelay = 200 * time.Millisecond // after a failed statement
)

// outcomeWriter writes the outcomes of scheduled syncs in batches. A submitter waits until its outcome is
// stored.
type outcomeWriter struct {
	store    *store.Store
	instance connectors.InstanceID
	log      *slog.Logger
	aborted  context.Context // done when retries must stop

	mu      sync.Mutex // guards pending and writing
	pending [3]outcomeBatch
	writing bool
}

// Kinds of outcomes.
const (
	outcomeUnchanged = iota
	outcomeFailed
	outcomePostponed
)

type outcomeBatch struct {
	outcomes []store.ClaimEnd
	stored   chan struct{} // closed when the batch is stored
}

func (w *outcomeWriter) recordUnchanged(ctx context.Context, e store.ClaimEnd) {
	w.submit(ctx, outcomeUnchanged, e)
}
func (w *outcomeWriter) recordFailed(ctx context.Context, e store.ClaimEnd) {
	w.submit(ctx, outcomeFailed, e)
}
func (w *outcomeWriter) recordPostponed(ctx context.Context, e store.ClaimEnd) {
	w.submit(ctx, outcomePostponed, e)
}

func (w *outcomeWriter) submit(ctx context.Context, kind int, outcome store.ClaimEnd) {
	<-w.addOutcome(ctx, kind, outcome)
}

// addOutcome returns a channel that is closed when the outcome is stored.
func (w *outcomeWriter) addOutcome(ctx context.Context, kind int, outcome store.ClaimEnd) (stored <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &w.pending[kind]
	if p.stored == nil {
		p.stored = make(chan struct{})
	}
	p.outcomes = append(p.outcomes, outcome)
	if !w.writing {
		w.writing = true
		after := context.WithoutCancel(ctx)
		safe.Go(safe.Sync, func() { w.writePending(after) }) // ends when nothing is pending
	}
	return p.stored
}

// writePending writes batches until nothing is pending.
func (w *outcomeWriter) writePending(ctx context.Context) {
	for {
		<-time.After(batchDelay)
		all, ok := w.takePending()
		if !ok {
			return
		}
		for kind, p := range all {
			for batch := range slices.Chunk(p.outcomes, maxBatch) {
				safe.Func(safe.Sync, func() { w.storeBatch(ctx, kind, batch) })()
			}
			if p.stored != nil {
				close(p.stored)
			}
		}
	}
}

func (w *outcomeWriter) takePending() (all [3]outcomeBatch, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, w.pending = w.pending, [3]outcomeBatch{}
	for _, p := range all {
		ok = ok || len(p.outcomes) > 0
	}
	w.writing = ok
	return all, ok
}

// storeBatch stores outcomes of one kind and retries through a database outage. Until then no process syncs
// these connectors.
func (w *outcomeWriter) storeBatch(ctx context.Context, kind int, batch []store.ClaimEnd) {
	for {
		err := w.tryStore(ctx, kind, batch)
		switch {
		case err == nil:
			return
		case fault.Is(err, fault.Unavailable) && w.aborted.Err() == nil:
		case len(batch) > 1: // one of them may be the cause
			for i := range batch {
				w.storeBatch(ctx, kind, batch[i:i+1])
			}
			return
		case kind != outcomePostponed:
			kind = outcomePostponed
			continue
		default:
			w.log.ErrorContext(ctx, "end of a scheduled sync not stored",
				slog.String("connector_id", batch[0].Claim.Connector.ID.String()), slog.Any("error", err))
			return
		}
		select {
		case <-w.aborted.Done():
		case <-time.After(storeRetryDelay):
		}
	}
}

func (w *outcomeWriter) tryStore(ctx context.Context, kind int, batch []store.ClaimEnd) (err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	sys, unstored := w.store.System(), batch
	switch kind {
	case outcomeUnchanged:
		unstored, err = sys.Syncs().EndUnchanged(ctx, w.instance, batch)
	case outcomeFailed:
		unstored, err = sys.Syncs().EndFailed(ctx, w.instance, batch)
	}
	if err != nil || len(unstored) == 0 {
		return err
	}
	for i := range unstored {
		unstored[i].Wait = cmp.Or(unstored[i].Wait, retryDelay)
	}
	return sys.Syncs().ReleaseClaims(ctx, w.instance, unstored)
}
