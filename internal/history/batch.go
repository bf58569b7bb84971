package history

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

const (
	writeTime   = 30 * time.Second // of one statement
	firstPause  = 100 * time.Millisecond
	longestWait = 2 * time.Second // between two tries while the database is away
)

// run writes a batch each interval in which something waits, and earlier where a whole one does.
func (w *Writer) run() {
	defer close(w.over)
	defer w.closeJournal()
	for {
		select {
		case <-w.wake:
		case <-w.halt:
			w.flush()
			return
		}
		pause := time.NewTimer(w.o.Interval)
		select {
		case <-pause.C:
		case <-w.full:
		case <-w.halt:
		}
		pause.Stop()
		w.flush()
	}
}

// closeJournal removes the journal, unless something of it was given up: the next start finds it then.
func (w *Writer) closeJournal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.journal.close(!w.gaveUp()); err != nil {
		w.o.Log.Warn("journal of calls not removed", slog.Any("error", err))
	}
	w.journal = nil
}

// gaveUp tells whether Stop has lost its patience.
func (w *Writer) gaveUp() bool {
	select {
	case <-w.given:
		return true
	default:
		return false
	}
}

// flush writes what waits now.
func (w *Writer) flush() {
	w.mu.Lock()
	begun, ended, written := w.begun, w.ended, w.written
	w.begun, w.ended, w.written = nil, nil, make(chan struct{})
	starts, how, open := make([]store.OwnedCall, 0, len(begun)), make([]connectors.CallHistory, 0, len(begun)), begun[:0]
	for _, e := range begun {
		if !e.ended {
			starts, how, open = append(starts, store.OwnedCall{Tenant: e.tenant, ToolCall: e.call}), append(how, e.keep), append(open, e)
		}
	}
	w.mu.Unlock()
	for i := range starts {
		Keep(&starts[i].ToolCall, how[i])
	}
	for batch := range slices.Chunk(starts, maxRows) {
		w.write(batch, w.o.Store.System().BeginCalls)
	}
	w.forget(open)
	for len(ended) > 0 {
		n := portion(ended)
		w.end(ended[:n])
		ended = ended[n:]
	}
	close(written)
}

// Written returns when what was noted before is written, or ctx is done.
func (w *Writer) Written(ctx context.Context) {
	w.mu.Lock()
	written := w.written
	w.mu.Unlock()
	poke(w.wake)
	poke(w.full)
	select {
	case <-written:
	case <-w.over:
	case <-ctx.Done():
	}
}

// portion is how many of the calls one statement takes.
func portion(ended []*Entry) int {
	bytes := 0
	for i, e := range ended {
		if bytes += e.size(); i >= maxRows || bytes > maxBytes && i > 0 {
			return i
		}
	}
	return len(ended)
}

// end writes calls that have ended: nobody changes them any more.
func (w *Writer) end(ended []*Entry) {
	calls := make([]store.OwnedCall, len(ended))
	bytes := 0
	for i, e := range ended {
		bytes += e.size()
		calls[i] = store.OwnedCall{Tenant: e.tenant, ToolCall: e.call}
		Keep(&calls[i].ToolCall, e.keep)
	}
	w.write(calls, w.o.Store.System().EndCalls)
	w.forget(ended)
	w.mu.Lock()
	w.memory -= bytes
	w.waiting -= len(ended)
	w.room.Broadcast()
	w.mu.Unlock()
}

// forget takes calls out of the journal: they are in the database.
func (w *Writer) forget(written []*Entry) {
	if w.journal == nil || w.gaveUp() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range written {
		w.journal.leave(e.slot)
		e.slot = -1
	}
}

// write insists until the calls are written. A batch that the database does not take as it is, because one of its rows cannot be
// written, is halved.
func (w *Writer) write(calls []store.OwnedCall, save func(context.Context, []store.OwnedCall) error) {
	if len(calls) == 0 {
		return
	}
	err := w.insist(calls, save)
	switch {
	case err == nil, w.gaveUp():
	case len(calls) == 1:
		w.o.Log.Error("call not written to the history", slog.String("tenant_id", calls[0].Tenant.String()),
			slog.String("tool_call_id", calls[0].ID.String()), slog.Any("error", err))
	default:
		half := len(calls) / 2
		w.write(calls[:half], save)
		w.write(calls[half:], save)
	}
}

// insist tries again as long as the database is away. An agent that is deleted at this moment makes a batch fail once.
func (w *Writer) insist(calls []store.OwnedCall, save func(context.Context, []store.OwnedCall) error) error {
	again := true
	for pause := firstPause; ; pause = min(2*pause, longestWait) {
		ctx, cancel := context.WithTimeout(context.Background(), writeTime)
		err := save(ctx, calls)
		cancel()
		switch {
		case err == nil:
			return nil
		case store.Passing(err):
			w.o.Log.Warn("history waits for the database", slog.Int("calls", len(calls)), slog.Any("error", err))
		case !again:
			return err
		default:
			again = false
		}
		if !w.rest(pause) {
			return err
		}
	}
}

// rest waits between two tries, and tells whether there is another: after Stop has lost its patience there is none.
func (w *Writer) rest(pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.given:
		return false
	}
}
