package history

import (
	"context"
	"errors"
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
			w.flushAll()
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

// flushAll writes what waits, as often as it takes.
func (w *Writer) flushAll() {
	for w.flush(); w.waits() && w.rest(firstPause); {
		w.flush()
	}
}

// waits tells whether something is still to be written.
func (w *Writer) waits() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.begun)+len(w.ended) > 0
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
	var starts []store.OwnedCall // few: most have ended
	var how []connectors.CallHistory
	open := begun[:0]
	for _, e := range begun {
		if !e.ended {
			starts, how, open = append(starts, store.OwnedCall{Tenant: e.tenant, ToolCall: e.call}), append(how, e.keep), append(open, e)
		}
	}
	w.mu.Unlock()
	for i := range starts {
		Keep(&starts[i].ToolCall, how[i])
	}
	left := calls{}
	for batch := range slices.Chunk(starts, maxRows) {
		w.write(batch, w.o.Store.System().BeginCalls, left)
	}
	open, held := left.among(open)
	w.forget(open)
	w.again(&w.begun, held)
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
	rows := make([]store.OwnedCall, len(ended))
	for i, e := range ended {
		rows[i] = store.OwnedCall{Tenant: e.tenant, ToolCall: e.call}
		Keep(&rows[i].ToolCall, e.keep)
	}
	left := calls{}
	w.write(rows, w.o.Store.System().EndCalls, left)
	ended, held := left.among(ended)
	w.again(&w.ended, held)
	bytes := 0
	for _, e := range ended {
		bytes += e.size()
	}
	w.forget(ended)
	w.mu.Lock()
	w.memory -= bytes
	w.waiting -= len(ended)
	w.room.Broadcast()
	w.mu.Unlock()
}

// calls are some of those that are written.
type calls map[connectors.ToolCallID]bool

// among parts entries into those that are not these calls, and those that are.
func (c calls) among(entries []*Entry) (others, these []*Entry) {
	if len(c) == 0 {
		return entries, nil
	}
	for _, e := range entries {
		if c[e.call.ID] {
			these = append(these, e)
		} else {
			others = append(others, e)
		}
	}
	return others, these
}

// again has calls written with the next batch. Somebody deletes their agent or their connector at this moment: the others' do not wait
// for that.
func (w *Writer) again(list *[]*Entry, held []*Entry) {
	if len(held) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*list = append(held, *list...)
	poke(w.wake)
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
// written, is halved. Those that are to be written later are noted.
func (w *Writer) write(rows []store.OwnedCall, save func(context.Context, []store.OwnedCall) error, later calls) {
	if len(rows) == 0 {
		return
	}
	err := w.insist(rows, save)
	held, some := errors.AsType[*store.Held](err)
	switch {
	case some:
		for _, c := range held.Calls {
			later[c.ID] = true
		}
	case err == nil, w.gaveUp():
	case len(rows) == 1:
		w.o.Log.Error("call not written to the history", slog.String("tenant_id", rows[0].Tenant.String()),
			slog.String("tool_call_id", rows[0].ID.String()), slog.Any("error", err))
	default:
		half := len(rows) / 2
		w.write(rows[:half], save, later)
		w.write(rows[half:], save, later)
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
		case isHeld(err):
			return err
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

func isHeld(err error) bool {
	_, held := errors.AsType[*store.Held](err)
	return held
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
