package calllog

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
	writeTimeout  = 30 * time.Second // of one statement
	minRetryPause = 100 * time.Millisecond
	maxRetryPause = 2 * time.Second // between two attempts while the database is unavailable
)

// overfillPart is the part of a full batch that a statement may exceed it by: a few calls cost a statement as
// much as some hundred.
const overfillPart = 4

// run writes batches until Stop and closes the journal.
func (w *Writer) run() {
	defer close(w.done)
	defer w.closeJournal()
	safe.RunLoop(context.Background(), "history", func(context.Context) { w.writeBatches() })
}

// writeBatches writes a batch each interval with pending calls, or earlier if one is full. It returns when Stop
// is called.
func (w *Writer) writeBatches() {
	defer notify(w.wake) // after a panic the loop restarts, and must not wait for the next call
	for {
		select {
		case <-w.wake:
		case <-w.stopping:
			w.flushAll()
			return
		}
		w.waitForBatch()
		w.flushBatch()
	}
}

// waitForBatch waits for an interval, or until a batch is due. A signal on full may belong to the previous
// batch.
func (w *Writer) waitForBatch() {
	pause := time.NewTimer(w.o.Interval)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
			return
		case <-w.stopping:
			return
		case <-w.full:
			if w.isBatchDue() {
				return
			}
		}
	}
}

// isBatchDue reports whether a batch is full or its write was requested.
func (w *Writer) isBatchDue() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writeRequested || len(w.ended) >= maxRows || w.memory >= maxBytes
}

// flushAll writes until nothing is pending or Stop gives up.
func (w *Writer) flushAll() {
	for w.flushBatch(); w.hasPending() && w.waitToRetry(minRetryPause); {
		w.flushBatch()
	}
}

// hasPending reports whether a call is still to be written.
func (w *Writer) hasPending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.begun)+len(w.ended) > 0
}

// closeJournal removes the journal, unless calls were given up: then the next start finds them in it.
func (w *Writer) closeJournal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.journal.close(!w.hasGivenUp()); err != nil {
		w.o.Log.Warn("call journal not removed", slog.Any("error", err))
	}
	w.journal = nil
}

// hasGivenUp reports whether the deadline of Stop has passed.
func (w *Writer) hasGivenUp() bool { return isClosed(w.stopDeadline) }

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// batch holds the calls of one flush.
type batch struct {
	open    []*Entry          // calls in progress; most have ended
	starts  []store.OwnedCall // the rows of open
	ended   []*Entry
	written chan struct{}
}

// flushBatch writes the pending calls. A panic in a step loses that step's calls only.
func (w *Writer) flushBatch() {
	b := w.takeBatch()
	defer close(b.written)
	w.runGuarded(len(b.open), func() { w.writeBeginnings(b.open, b.starts) })
	fresh, stored := splitStored(b.ended)
	w.writeEnds(fresh, w.o.Store.System().Calls().AddCalls)
	w.writeEnds(stored, w.o.Store.System().Calls().EndCalls)
}

// takeBatch takes the pending calls. Beginnings of young calls wait for the next batch, unless a write was
// requested or this is the last one.
func (w *Writer) takeBatch() batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := batch{ended: w.ended, written: w.written}
	var postponed []*Entry
	writeAll, now := w.writeRequested || isClosed(w.stopping), w.o.Now()
	for _, e := range w.begun {
		switch {
		case e.ended:
		case !writeAll && w.isRecent(e, now):
			postponed = append(postponed, e)
			notify(w.wake)
		default:
			e.stored, e.hasAccount = true, e.call.CredentialID != nil
			b.open, b.starts = append(b.open, e), append(b.starts, store.OwnedCall{Tenant: e.tenant, ToolCall: e.call})
		}
	}
	w.begun, w.ended, w.written, w.writeRequested = postponed, nil, make(chan struct{}), false
	return b
}

// runGuarded runs a step that writes so many calls. A panic loses and logs them.
func (w *Writer) runGuarded(calls int, step func()) {
	if err := safe.Try(safe.Background, func() error { step(); return nil })(); err != nil {
		w.o.Log.Error("calls not written to the history", slog.Int("calls", calls), slog.Any("error", err))
	}
}

// splitStored separates ended calls without a stored row, which are most, from those that may have one.
func splitStored(ended []*Entry) (fresh, stored []*Entry) {
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

// isRecent reports whether a call has just begun. Most calls end within milliseconds, and a stored beginning
// costs as much as an end.
func (w *Writer) isRecent(e *Entry, now time.Time) bool {
	age := now.Sub(e.call.StartedAt)
	return 0 <= age && age < w.o.Interval/4
}

// Flush returns when all earlier calls are stored, or ctx is done.
func (w *Writer) Flush(ctx context.Context) {
	written := w.requestWrite()
	notify(w.wake)
	notify(w.full)
	select {
	case <-written:
	case <-w.done:
	case <-ctx.Done():
	}
}

// requestWrite starts the next batch at once and returns a channel that is closed when it is stored.
func (w *Writer) requestWrite() (written chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeRequested = true
	return w.written
}

// countForStatement returns how many of the calls one statement takes.
func countForStatement(ended []*Entry) int {
	bytes := 0
	for i, e := range ended {
		if bytes += e.contentBytes(); i >= maxRows+maxRows/overfillPart || bytes > maxBytes+maxBytes/overfillPart && i > 0 {
			return i
		}
	}
	return len(ended)
}

// writeBeginnings writes calls in progress, as of takeBatch.
func (w *Writer) writeBeginnings(open []*Entry, starts []store.OwnedCall) {
	for i := range starts {
		applyRetentionSafely(&starts[i].ToolCall, open[i].retention)
	}
	locked := callSet{}
	for batch := range slices.Chunk(starts, maxRows) {
		w.writeRows(batch, w.o.Store.System().Calls().BeginCalls, locked)
	}
	open, lockedEntries := locked.split(open)
	w.removeFromJournal(w.selectComplete(open))
	w.requeue(&w.begun, lockedEntries)
}

// selectComplete returns the calls with stored beginnings that have all that the journal has.
func (w *Writer) selectComplete(begun []*Entry) []*Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(begun), (*Entry).isInJournalOnly)
}

// writeEnds writes ended calls in as few statements as possible.
func (w *Writer) writeEnds(ended []*Entry, save func(context.Context, []store.OwnedCall) error) {
	for len(ended) > 0 {
		n := countForStatement(ended)
		w.runGuarded(n, func() { w.writeEndBatch(ended[:n], save) })
		ended = ended[n:]
	}
}

// writeEndBatch writes ended calls, which do not change any more. It releases their memory even if it panics.
func (w *Writer) writeEndBatch(ended []*Entry, save func(context.Context, []store.OwnedCall) error) {
	done := ended
	defer func() { w.releaseMemory(done) }()
	rows := make([]store.OwnedCall, len(ended))
	for i, e := range ended {
		rows[i] = store.OwnedCall{Tenant: e.tenant, ToolCall: e.call}
		applyRetentionSafely(&rows[i].ToolCall, e.retention)
	}
	locked := callSet{}
	w.writeRows(rows, save, locked)
	var lockedEntries []*Entry
	done, lockedEntries = locked.split(ended)
	w.requeue(&w.ended, lockedEntries)
	w.removeFromJournal(done)
}

// releaseMemory releases the memory of stored calls and wakes callers that wait for it.
func (w *Writer) releaseMemory(done []*Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range done {
		w.memory -= e.contentBytes()
	}
	w.waiting -= len(done)
	w.spaceFreed.Broadcast()
}

type callSet map[connectors.ToolCallID]bool

// split separates entries that are not in the set from those that are.
func (c callSet) split(entries []*Entry) (rest, matching []*Entry) {
	if len(c) == 0 {
		return entries, nil
	}
	for _, e := range entries {
		if c[e.call.ID] {
			matching = append(matching, e)
		} else {
			rest = append(rest, e)
		}
	}
	return rest, matching
}

// requeue adds calls to the next batch. Their agent or connector is being deleted, and other calls must not
// wait for that.
func (w *Writer) requeue(list *[]*Entry, entries []*Entry) {
	if len(entries) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*list = append(entries, *list...)
	notify(w.wake)
}

// removeFromJournal frees the journal slots of stored calls.
func (w *Writer) removeFromJournal(written []*Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal == nil || w.hasGivenUp() {
		return
	}
	for _, e := range written {
		w.journal.freeSlot(e.slot)
		e.slot = -1
	}
}

// writeRows retries until the rows are stored. A batch with an invalid row is halved until the row is alone.
// Locked rows are added to locked.
func (w *Writer) writeRows(rows []store.OwnedCall, save func(context.Context, []store.OwnedCall) error, locked callSet) {
	if len(rows) == 0 {
		return
	}
	err := w.saveWithRetry(rows, save)
	lockedErr, isLockedErr := errors.AsType[*store.LockedCallsError](err)
	switch {
	case isLockedErr:
		for _, c := range lockedErr.Calls {
			locked[c.ID] = true
		}
	case err == nil, w.hasGivenUp():
	case len(rows) == 1:
		w.o.Log.Error("call not written to the history", slog.String("tenant_id", rows[0].Tenant.String()),
			slog.String("tool_call_id", rows[0].ID.String()), slog.Any("error", err))
	default:
		half := len(rows) / 2
		w.writeRows(rows[:half], save, locked)
		w.writeRows(rows[half:], save, locked)
	}
}

// saveWithRetry retries while the database is unavailable. It retries any other error once, for deleting an
// agent fails a batch once.
func (w *Writer) saveWithRetry(calls []store.OwnedCall, save func(context.Context, []store.OwnedCall) error) error {
	retry := true
	for pause := minRetryPause; ; pause = min(2*pause, maxRetryPause) {
		err := saveOnce(calls, save)
		switch {
		case err == nil:
			return nil
		case isLocked(err), safe.IsPanic(err):
			return err
		case store.IsTransient(err):
			w.o.Log.Warn("history waits for the database", slog.Int("calls", len(calls)), slog.Any("error", err))
		case !retry:
			return err
		default:
			retry = false
		}
		if !w.waitToRetry(pause) {
			return err
		}
	}
}

// saveOnce runs one statement and returns a panic as an error.
func saveOnce(calls []store.OwnedCall, save func(context.Context, []store.OwnedCall) error) (err error) {
	defer safe.RecoverTo(safe.Background, &err)
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	return save(ctx, calls)
}

func isLocked(err error) bool {
	_, held := errors.AsType[*store.LockedCallsError](err)
	return held
}

// waitToRetry waits before a retry and reports whether there is one: none after Stop has given up.
func (w *Writer) waitToRetry(pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.stopDeadline:
		return false
	}
}
