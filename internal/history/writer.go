package history

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	defaultInterval = 100 * time.Millisecond
	maxRows         = 2000     // of one statement
	maxBytes        = 2 << 20  // of one statement's contents: each connection keeps a buffer for the longest that it sent
	defaultMemory   = 64 << 20 // contents that wait
	defaultWaiting  = 100_000  // entries that wait

	// Contents cost more than the calls they are of, here and in the database. So many bytes of them are kept in a second, after a pause
	// those of two; what comes on top is left out. Short ones are always kept.
	defaultRate = 16 << 20
	shortBytes  = 4 << 10
)

// Options configure a [Writer]. Store and Instance are required.
type Options struct {
	Store    *store.Store
	Instance connectors.InstanceID
	Log      *slog.Logger     // nil: nowhere
	Now      func() time.Time // nil: time.Now
	Interval time.Duration    // between two batches; 0: 100 ms
	Memory   int              // bytes of contents that may wait; 0: 64 MiB
	Waiting  int              // calls that may wait; 0: 100 000
	Rate     int              // bytes of long contents that are kept in a second; 0: 16 MiB
	Journal  string           // a folder of this machine, for what survives a killed process; empty: nothing does
}

// Writer writes calls in batches. It is safe for concurrent use.
type Writer struct {
	o    Options
	wake chan struct{} // something waits
	full chan struct{} // a whole batch waits
	halt chan struct{} // closed by Stop
	over chan struct{} // closed when the last batch was written

	given  chan struct{} // closed when Stop has lost its patience
	once   sync.Once
	giving sync.Once

	mu      sync.Mutex    // guards what follows, and what entries say that it guards
	room    sync.Cond     // there may be room again
	begun   []*Entry      // since the last batch
	ended   []*Entry      // likewise
	memory  int           // bytes of contents in ended, and in the batch under way
	waiting int           // entries in ended, and in the batch under way
	written chan struct{} // closed when what waits now is written
	asked   bool          // somebody waits for that
	budget  budget
	live    listeners
	journal *journal // nil: there is none
}

// New makes a Writer, which works until Stop.
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
		o: o, wake: make(chan struct{}, 1), full: make(chan struct{}, 1), halt: make(chan struct{}), over: make(chan struct{}),
		given: make(chan struct{}), written: make(chan struct{}),
	}
	w.room.L = &w.mu
	if err := w.ensureJournal(); err != nil {
		o.Log.Warn("no journal of calls: those of the last moment are lost when the process is killed", slog.Any("error", err))
	}
	safe.Go(safe.Background, w.run)
	return w
}

// Entry is one call on its way into the history.
type Entry struct {
	w      *Writer
	tenant connectors.TenantID
	keep   connectors.CallHistory

	stored bool // something of it may be in the database; what writes batches changes it

	// The writer's mu guards what follows.
	call  connectors.ToolCall
	ended bool
	slot  int32 // in the journal; -1: none
}

// Begin notes that a call begins. The arguments are copied where they are kept; everything else is the writer's from now on.
func (w *Writer) Begin(t connectors.Tenant, c connectors.ToolCall) *Entry {
	e := &Entry{w: w, tenant: t.ID, keep: t.CallHistory, stored: c.ApprovedBy != ""} // what waited for a person has a row
	c.Arguments = e.kept(c.Arguments)
	c.Tool, c.ExposedName = e.named(c.Kind, c.Tool), e.named(c.Kind, c.ExposedName)
	c.InstanceID = &w.o.Instance
	e.call = c
	w.add(e)
	poke(w.wake)
	return e
}

func (w *Writer) add(e *Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = append(w.begun, e)
	e.slot = w.journal.take(e.tenant, &e.call)
	w.live.tell(e.tenant, e.call)
}

// kept copies what the caller will use again.
func (e *Entry) kept(raw []byte) []byte {
	if e.keep == connectors.HistoryNone || len(raw) == 0 {
		return nil
	}
	return append([]byte(nil), raw...)
}

// mostNamed bounds what is kept of the name of what was asked for: a resource's URI is as long as an agent likes.
const mostNamed = 2 << 10

// named is what is kept of a name. Those of tools are ours; a URI, or what is to be completed, may hold a secret.
func (e *Entry) named(kind connectors.CallKind, name string) string {
	if len(name) > mostNamed {
		name = strings.Clone(name[:mostNamed]) + "…"
	}
	if kind == connectors.CallTool || e.keep == connectors.HistoryFull {
		return name
	}
	return redactText(name)
}

// Call is the call as it was begun or ended.
func (e *Entry) Call() connectors.ToolCall {
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	return e.call
}

// End notes how the call ended: change sets what is known by now. Content and Structured must not change any more. A second End does
// nothing. Where too much waits for a database that is away, it waits, too.
func (e *Entry) End(change func(c *connectors.ToolCall)) connectors.ToolCall {
	return e.end(change, false)
}

// EndLent is End for a Content and a Structured in memory that is used again afterwards: what is kept of them is copied.
func (e *Entry) EndLent(change func(c *connectors.ToolCall)) connectors.ToolCall {
	return e.end(change, true)
}

func (e *Entry) end(change func(c *connectors.ToolCall), lent bool) connectors.ToolCall {
	w := e.w
	w.mu.Lock()
	defer w.mu.Unlock()
	for !e.ended && w.waiting >= w.o.Waiting {
		w.room.Wait()
	}
	if e.ended {
		return e.call
	}
	change(&e.call)
	e.ended = true // after change: where that panics, the call can still be ended
	e.shed()
	if lent {
		e.call.Content, e.call.Structured = bytes.Clone(e.call.Content), bytes.Clone(e.call.Structured)
	}
	w.ended = append(w.ended, e)
	w.waiting++
	w.memory += e.size()
	w.live.tell(e.tenant, e.call)
	poke(w.wake)
	if len(w.ended) >= maxRows || w.memory >= maxBytes {
		poke(w.full)
	}
	return e.call
}

// shed drops contents that would not be kept, or for which there is no room. mu is held.
func (e *Entry) shed() {
	w, c := e.w, &e.call
	long := min(len(c.Content), connectors.MaxHistoryBytes) + len(c.Structured)
	switch {
	case e.keep == connectors.HistoryNone:
		c.Content, c.Structured = nil, nil
	case w.memory+e.size() > w.o.Memory:
		c.Arguments, c.Content, c.Structured, c.Truncated = nil, nil, nil, true
	case long > shortBytes && !w.budget.take(long, w.o.Rate, w.o.Now()):
		c.Content, c.Structured, c.Truncated = nil, nil, true
	}
}

// budget is how many bytes of contents may be kept now. The writer's mu guards it; the zero value is full at its first use.
type budget struct {
	left float64
	at   time.Time
}

func (b *budget) take(n, rate int, now time.Time) bool {
	if b.at.IsZero() {
		b.left = 2 * float64(rate)
	} else {
		b.left = min(2*float64(rate), b.left+now.Sub(b.at).Seconds()*float64(rate))
	}
	b.at = now
	if b.left < float64(n) {
		return false
	}
	b.left -= float64(n)
	return true
}

func (e *Entry) size() int {
	return len(e.call.Arguments) + len(e.call.Content) + len(e.call.Structured)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Stop writes what waits, until ctx is done, and ends the writer. Calls that begin or end later are not written.
func (w *Writer) Stop(ctx context.Context) {
	w.once.Do(func() { close(w.halt) })
	select {
	case <-w.over:
	case <-ctx.Done():
		w.giving.Do(func() { close(w.given) })
		<-w.over
		w.o.Log.WarnContext(ctx, "history not written whole", slog.Int("calls", w.left()))
	}
}

func (w *Writer) left() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting
}
