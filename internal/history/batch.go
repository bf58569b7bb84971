package history

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	writeTime   = 30 * time.Second // of one statement
	firstPause  = 100 * time.Millisecond
	longestWait = 2 * time.Second // between two tries while the database is away
)

// A batch that is whole takes what comes until it is written, too, up to this part of itself: a few calls cost a statement as much as some hundred.
const onTop = 4

// run writes a batch each interval in which something waits, and earlier where a whole one does.
func (w *Writer) run() {
	defer close(w.over)
	defer w.closeJournal()
	safe.RunLoop(context.Background(), "history", func(context.Context) { w.writeBatches() })
}

// writeBatches writes one batch after the other, and returns when Stop is called.
func (w *Writer) writeBatches() {
	defer poke(w.wake) // after a panic the loop starts again, and must not wait for the next call
	for {
		select {
		case <-w.wake:
		case <-w.halt:
			w.flushAll()
			return
		}
		w.gather()
		w.flush()
	}
}

// gather waits for an interval, or until there is a reason not to. Who was told that a batch is whole may have been told of the one before.
func (w *Writer) gather() {
	pause := time.NewTimer(w.o.Interval)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
			return
		case <-w.halt:
			return
		case <-w.full:
			if w.whole() {
				return
			}
		}
	}
}

// whole tells whether there is enough for a batch, or somebody waits for what there is.
func (w *Writer) whole() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked || len(w.ended) >= maxRows || w.memory >= maxBytes
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
func (w *Writer) gaveUp() bool { return closed(w.given) }

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// batch is what one flush writes.
type batch struct {
	open    []*Entry          // calls that go on; few: most have ended
	starts  []store.OwnedCall // the rows of open
	ended   []*Entry
	written chan struct{}
}

// flush writes what waits now. A step that panics loses its own calls alone.
func (w *Writer) flush() {
	b := w.takeBatch()
	defer close(b.written)
	w.guard(len(b.open), func() { w.begin(b.open, b.starts) })
	fresh, stored := apart(b.ended)
	w.endAll(fresh, w.o.Store.System().AddCalls)
	w.endAll(stored, w.o.Store.System().EndCalls)
}

// takeBatch takes what waits now. The beginning of a young call waits for the next batch, unless this is the last one or its write was
// asked for.
func (w *Writer) takeBatch() batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := batch{ended: w.ended, written: w.written}
	var young []*Entry
	all, now := w.asked || closed(w.halt), w.o.Now()
	for _, e := range w.begun {
		switch {
		case e.ended:
		case !all && w.young(e, now):
			young = append(young, e)
			poke(w.wake)
		default:
			e.stored = true
			b.open, b.starts = append(b.open, e), append(b.starts, store.OwnedCall{Tenant: e.tenant, ToolCall: e.call})
		}
	}
	w.begun, w.ended, w.written, w.asked = young, nil, make(chan struct{}), false
	return b
}

// guard runs a step that writes so many calls. Where it panics, they are lost, and the log says so.
func (w *Writer) guard(calls int, step func()) {
	if err := safe.Try(safe.Background, func() error { step(); return nil })(); err != nil {
		w.o.Log.Error("calls not written to the history", slog.Int("calls", calls), slog.Any("error", err))
	}
}

// apart parts calls that have ended into those of which nothing is written, which are most, and those of which something may be.
func apart(ended []*Entry) (fresh, stored []*Entry) {
	if !slices.ContainsFunc(ended, func(e *Entry) bool { return e.stored }) {
		return ended, nil
	}
	for _, e := range ended {
		if e.stored {
			stored = append(stored, e)
		} else {
			fresh = append(fresh, e)
		}
	}
	return fresh, stored
}

// young tells whether a call has only just begun. Most end within milliseconds: a beginning that is written costs as much as an end, and
// makes its end dearer.
func (w *Writer) young(e *Entry, now time.Time) bool {
	age := now.Sub(e.call.StartedAt)
	return 0 <= age && age < w.o.Interval/4
}

// Written returns when what was noted before is written, or ctx is done.
func (w *Writer) Written(ctx context.Context) {
	written := w.askForWrite()
	poke(w.wake)
	poke(w.full)
	select {
	case <-written:
	case <-w.over:
	case <-ctx.Done():
	}
}

// askForWrite has the next batch begin at once. The channel is closed when it is written.
func (w *Writer) askForWrite() (written chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = true
	return w.written
}

// portion is how many of the calls one statement takes.
func portion(ended []*Entry) int {
	bytes := 0
	for i, e := range ended {
		if bytes += e.size(); i >= maxRows+maxRows/onTop || bytes > maxBytes+maxBytes/onTop && i > 0 {
			return i
		}
	}
	return len(ended)
}

// begin writes calls that go on, as they were when the batch was taken.
func (w *Writer) begin(open []*Entry, starts []store.OwnedCall) {
	for i := range starts {
		keepSafely(&starts[i].ToolCall, open[i].keep)
	}
	left := calls{}
	for batch := range slices.Chunk(starts, maxRows) {
		w.write(batch, w.o.Store.System().BeginCalls, left)
	}
	open, held := left.among(open)
	w.forget(open)
	w.again(&w.begun, held)
}

// endAll writes calls that have ended by as few statements as take them.
func (w *Writer) endAll(ended []*Entry, save func(context.Context, []store.OwnedCall) error) {
	for len(ended) > 0 {
		n := portion(ended)
		w.guard(n, func() { w.end(ended[:n], save) })
		ended = ended[n:]
	}
}

// end writes calls that have ended, which do not change any more. Their memory is released even where it panics.
func (w *Writer) end(ended []*Entry, save func(context.Context, []store.OwnedCall) error) {
	done := ended
	defer func() { w.release(done) }()
	rows := make([]store.OwnedCall, len(ended))
	for i, e := range ended {
		rows[i] = store.OwnedCall{Tenant: e.tenant, ToolCall: e.call}
		keepSafely(&rows[i].ToolCall, e.keep)
	}
	left := calls{}
	w.write(rows, save, left)
	var held []*Entry
	done, held = left.among(ended)
	w.again(&w.ended, held)
	w.forget(done)
}

// release makes room for other calls.
func (w *Writer) release(done []*Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range done {
		w.memory -= e.size()
	}
	w.waiting -= len(done)
	w.room.Broadcast()
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
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal == nil || w.gaveUp() {
		return
	}
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
		err := saveOnce(calls, save)
		switch {
		case err == nil:
			return nil
		case isHeld(err), safe.IsPanic(err):
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

// saveOnce runs one statement. A panic is its error.
func saveOnce(calls []store.OwnedCall, save func(context.Context, []store.OwnedCall) error) (err error) {
	defer safe.RecoverTo(safe.Background, &err)
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	return save(ctx, calls)
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
