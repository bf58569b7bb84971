package calllog

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"patchbay/internal/connectors"
	"patchbay/internal/redact"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	defaultInterval = 100 * time.Millisecond
	maxRows         = 2000     // of one statement
	maxBytes        = 2 << 20  // of contents in a statement: each connection keeps a buffer for its longest one
	defaultMemory   = 64 << 20 // pending contents, in bytes
	defaultWaiting  = 100_000  // pending entries

	// Contents cost more than their calls, here and in the database. defaultRate bytes of them are kept a
	// second, twice that after a pause; further ones are dropped. Contents up to shortBytes are always kept.
	defaultRate = 16 << 20
	shortBytes  = 4 << 10
)

// Options configure a [Writer]. Store and Instance are required.
type Options struct {
	Store    *store.Store
	Instance connectors.InstanceID
	Log      *slog.Logger     // nil: discard
	Now      func() time.Time // nil: time.Now
	Interval time.Duration    // between two batches; 0: 100 ms
	Memory   int              // maximum pending contents in bytes; 0: 64 MiB
	Waiting  int              // maximum pending calls; 0: 100 000
	Rate     int              // bytes of long contents kept a second; 0: 16 MiB
	Journal  string           // directory for the journal; empty: no journal
}

// Writer writes calls in batches. It is safe for concurrent use.
type Writer struct {
	o        Options
	wake     chan struct{} // calls are pending
	full     chan struct{} // a batch is full
	stopping chan struct{} // closed by Stop
	done     chan struct{} // closed after the last batch

	stopDeadline chan struct{} // closed when the deadline of Stop has passed
	stopOnce     sync.Once
	giveUpOnce   sync.Once

	mu             sync.Mutex    // guards the fields below, and those of Entry that say so
	spaceFreed     sync.Cond     // signals free memory
	begun          []*Entry      // since the last batch
	ended          []*Entry      // likewise
	memory         int           // bytes of contents in ended and in the current batch
	waiting        int           // entries in ended and in the current batch
	written        chan struct{} // closed when the pending calls are stored
	writeRequested bool          // a caller waits on written
	budget         *rate.Limiter // bytes of long contents
	callFeed       callFeed
	journal        *journal // nil: none
}

// New starts a Writer, which works until Stop.
func New(o Options) *Writer {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Interval, o.Memory, o.Waiting = cmp.Or(o.Interval, defaultInterval), cmp.Or(o.Memory, defaultMemory), cmp.Or(o.Waiting, defaultWaiting)
	o.Rate = cmp.Or(o.Rate, defaultRate)
	w := &Writer{
		o: o, wake: make(chan struct{}, 1), full: make(chan struct{}, 1), stopping: make(chan struct{}), done: make(chan struct{}),
		stopDeadline: make(chan struct{}), written: make(chan struct{}), budget: rate.NewLimiter(rate.Limit(o.Rate), 2*o.Rate),
	}
	w.spaceFreed.L = &w.mu
	if err := w.ensureJournal(); err != nil {
		o.Log.Warn("no call journal: the latest calls are lost if the process is killed", slog.Any("error", err))
	}
	safe.Go(safe.Background, w.run)
	return w
}

// Entry is one call to be written.
type Entry struct {
	w         *Writer
	tenant    connectors.TenantID
	retention connectors.CallHistory

	stored bool // a row may exist; changed only by the goroutine that writes batches

	// Writer.mu guards the fields below.
	call       connectors.ToolCall
	ended      bool
	slot       int32 // in the journal; -1: none
	hasAccount bool  // the stored beginning has the account
}

// Begin records the beginning of a call. It copies the arguments if they are kept; the rest of c belongs to the
// writer from now on.
func (w *Writer) Begin(t connectors.Tenant, c connectors.ToolCall) *Entry {
	e := &Entry{w: w, tenant: t.ID, retention: t.CallHistory, stored: c.ApprovedBy != ""} // an approved call has a row
	c.Arguments = e.copyArguments(c.Arguments)
	c.Tool, c.ExposedName = e.redactName(c.Kind, c.Tool), e.redactName(c.Kind, c.ExposedName)
	c.InstanceID = &w.o.Instance
	e.call = c
	w.addEntry(e)
	notify(w.wake)
	return e
}

func (w *Writer) addEntry(e *Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = append(w.begun, e)
	e.slot = w.journal.writeCall(e.tenant, &e.call)
	w.callFeed.send(e.tenant, e.call)
}

// copyArguments copies what the caller will reuse.
func (e *Entry) copyArguments(raw []byte) []byte {
	if e.retention == connectors.HistoryNone || len(raw) == 0 {
		return nil
	}
	return append([]byte(nil), raw...)
}

// maxNameBytes bounds the stored name: an agent chooses the length of a resource's URI.
const maxNameBytes = 2 << 10

// redactName truncates and redacts a name. Tool names are ours; a URI or a completion argument may hold a secret.
func (e *Entry) redactName(kind connectors.CallKind, name string) string {
	if len(name) > maxNameBytes {
		name = strings.Clone(name[:maxNameBytes]) + "…"
	}
	if kind == connectors.CallTool || e.retention == connectors.HistoryFull {
		return name
	}
	return redact.Text(name)
}

// SetAccount records the account that a call is sent with, so that its row has the account also if the process is killed.
func (e *Entry) SetAccount(id connectors.CredentialID) {
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	if e.ended {
		return
	}
	e.call.CredentialID = &id
	if e.slot >= 0 {
		e.w.journal.setAccount(e.slot, &id)
	} else { // the beginning is stored, without the account
		e.slot = e.w.journal.writeCall(e.tenant, &e.call)
	}
}

// Detach takes a call out of the journal: its stored row goes on without this process.
func (e *Entry) Detach() {
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	if e.w.journal != nil {
		e.w.journal.freeSlot(e.slot)
		e.slot = -1
	}
}

// isInJournalOnly reports whether the journal has the account of a call, and its stored beginning does not. The caller holds mu.
func (e *Entry) isInJournalOnly() bool { return e.call.CredentialID != nil && !e.hasAccount }

// Call returns the call as it began or ended.
func (e *Entry) Call() connectors.ToolCall {
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	return e.call
}

// End records the end of a call, as set by change. Content and Structured must not change afterwards. A second
// End does nothing. End blocks while too many calls are pending.
func (e *Entry) End(change func(c *connectors.ToolCall)) connectors.ToolCall {
	return e.finish(change, false)
}

// EndPooled is End for a Content and a Structured in memory that is reused: what is kept of them is copied.
func (e *Entry) EndPooled(change func(c *connectors.ToolCall)) connectors.ToolCall {
	return e.finish(change, true)
}

func (e *Entry) finish(change func(c *connectors.ToolCall), isLent bool) connectors.ToolCall {
	w := e.w
	w.mu.Lock()
	defer w.mu.Unlock()
	for !e.ended && w.waiting >= w.o.Waiting {
		w.spaceFreed.Wait()
	}
	if e.ended {
		return e.call
	}
	change(&e.call)
	e.ended = true // after change, so that a call can still be ended if it panics
	e.dropContents()
	if isLent {
		e.call.Content, e.call.Structured = bytes.Clone(e.call.Content), bytes.Clone(e.call.Structured)
	}
	w.ended = append(w.ended, e)
	w.waiting++
	w.memory += e.contentBytes()
	w.callFeed.send(e.tenant, e.call)
	notify(w.wake)
	if len(w.ended) >= maxRows || w.memory >= maxBytes {
		notify(w.full)
	}
	return e.call
}

// dropContents drops contents that are not kept or do not fit. The caller holds mu.
func (e *Entry) dropContents() {
	w, c := e.w, &e.call
	long := min(len(c.Content), connectors.MaxHistoryBytes) + len(c.Structured)
	switch {
	case e.retention == connectors.HistoryNone:
		c.Content, c.Structured, c.Upstream = nil, nil, c.Upstream.WithoutSaid()
	case w.memory+e.contentBytes() > w.o.Memory:
		c.Arguments, c.Content, c.Structured, c.Upstream, c.Truncated = nil, nil, nil, c.Upstream.WithoutSaid(), true
	case long > shortBytes && !w.budget.AllowN(w.o.Now(), long):
		c.Content, c.Structured, c.Truncated = nil, nil, true
	}
}

func (e *Entry) contentBytes() int {
	n := len(e.call.Arguments) + len(e.call.Content) + len(e.call.Structured)
	if e.call.Upstream != nil {
		n += len(e.call.Upstream.Said)
	}
	return n
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Stop writes the pending calls until ctx is done and ends the writer. Later calls are not written.
func (w *Writer) Stop(ctx context.Context) {
	w.stopOnce.Do(func() { close(w.stopping) })
	select {
	case <-w.done:
	case <-ctx.Done():
		w.giveUpOnce.Do(func() { close(w.stopDeadline) })
		<-w.done
		w.o.Log.WarnContext(ctx, "history not fully written", slog.Int("calls", w.countWaiting()))
	}
}

func (w *Writer) countWaiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting
}
