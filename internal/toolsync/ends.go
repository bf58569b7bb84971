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

// How ends are collected: one statement for all that came while the one before was written, and for a few milliseconds more.
const (
	collectTime = 4 * time.Millisecond
	maxEnds     = 128
	endPause    = 200 * time.Millisecond // after a statement that failed
)

// ends writes the ends of scheduled syncs, many in a statement. Whoever brings one waits until it is stored.
type ends struct {
	store    *store.Store
	instance connectors.InstanceID
	log      *slog.Logger
	stopped  context.Context // done when nothing is waited for any more

	mu      sync.Mutex // guards what follows
	kinds   [3]pending
	writing bool
}

// The kinds of ends.
const (
	endUnchanged = iota
	endFailed
	endPutOff
)

type pending struct {
	ends   []store.Ended
	stored chan struct{} // closed when they are
}

func (w *ends) unchanged(ctx context.Context, e store.Ended) { w.bring(ctx, endUnchanged, e) }
func (w *ends) failed(ctx context.Context, e store.Ended)    { w.bring(ctx, endFailed, e) }
func (w *ends) putOff(ctx context.Context, e store.Ended)    { w.bring(ctx, endPutOff, e) }

func (w *ends) bring(ctx context.Context, kind int, e store.Ended) {
	w.mu.Lock()
	p := &w.kinds[kind]
	if p.stored == nil {
		p.stored = make(chan struct{})
	}
	p.ends = append(p.ends, e)
	stored := p.stored
	if !w.writing {
		w.writing = true
		after := context.WithoutCancel(ctx)
		safe.Go(safe.Sync, func() { w.write(after) }) // it ends when nobody waits
	}
	w.mu.Unlock()
	<-stored
}

// write writes what is brought until nothing is.
func (w *ends) write(ctx context.Context) {
	for {
		<-time.After(collectTime)
		all, any := w.taken()
		if !any {
			return
		}
		for kind, p := range all {
			for batch := range slices.Chunk(p.ends, maxEnds) {
				safe.Func(safe.Sync, func() { w.settle(ctx, kind, batch) })()
			}
			if p.stored != nil {
				close(p.stored)
			}
		}
	}
}

func (w *ends) taken() (all [3]pending, any bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, w.kinds = w.kinds, [3]pending{}
	for _, p := range all {
		any = any || len(p.ends) > 0
	}
	w.writing = any
	return all, any
}

// settle stores ends of one kind, also where the database is away for a while: until then nobody else syncs these connectors.
func (w *ends) settle(ctx context.Context, kind int, batch []store.Ended) {
	for {
		err := w.try(ctx, kind, batch)
		switch {
		case err == nil:
			return
		case fault.Is(err, fault.Unavailable) && w.stopped.Err() == nil:
		case len(batch) > 1: // one of them may be at fault
			for i := range batch {
				w.settle(ctx, kind, batch[i:i+1])
			}
			return
		case kind != endPutOff:
			kind = endPutOff
			continue
		default:
			w.log.ErrorContext(ctx, "end of a scheduled sync not stored",
				slog.String("connector_id", batch[0].Claim.Connector.ID.String()), slog.Any("error", err))
			return
		}
		select {
		case <-w.stopped.Done():
		case <-time.After(endPause):
		}
	}
}

func (w *ends) try(ctx context.Context, kind int, batch []store.Ended) (err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	sys, left := w.store.System(), batch
	switch kind {
	case endUnchanged:
		left, err = sys.EndUnchanged(ctx, w.instance, batch)
	case endFailed:
		left, err = sys.EndFailed(ctx, w.instance, batch)
	}
	if err != nil || len(left) == 0 {
		return err
	}
	for i := range left {
		left[i].Wait = cmp.Or(left[i].Wait, soonAgain)
	}
	return sys.ReleaseClaims(ctx, w.instance, left)
}
