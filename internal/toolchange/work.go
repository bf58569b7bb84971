package toolchange

// Bounds of one comparison. A unit of work is one allocated byte, or 3 ns of a slow core.
const (
	maxWork          = 10 << 20
	searchWork       = 4 << 20 // of maxWork, reserved for the search of texts
	maxComparedBytes = 1 << 20 // of both definitions
)

// maxListWork bounds the comparisons of one [Budget]: 64 of the largest ones, or thousands of usual ones.
const maxListWork = 64 * maxWork

// Charges, in units of work.
const (
	memberWork     = 320  // a member of a definition: its name, its place in maps
	decoderWork    = 2500 // a JSON decoder
	tokenWork      = 160  // a decoded value or name
	nodeWork       = 600  // a compared pair of schemas, without subschemas
	valueWork      = 16   // a value that is compared or written
	nameWork       = 64   // a sorted name
	entryWork      = 128  // an entry of a map
	differenceWork = 400
	textWork       = 320 // a collected text
	ruleSetWork    = 600 // a text that is searched for instructions, without its bytes
)

// Charges for each byte.
const (
	rawByteWork     = 4 // validity, members, and tokens
	decodedByteWork = 5 // the JSON decoder doubles its buffer
	refByteWork     = 8
	hiddenByteWork  = 2
	nameByteWork    = 4
	hintByteWork    = 24 // lower case, normal form, and all hints
	patternByteWork = 64 // one instruction pattern
	emailByteWork   = 32
	urlByteWork     = 96
)

// checkInterval is the work between two checks of done.
const checkInterval = 1 << 16

// A Budget bounds the work of several comparisons, for example of all tools of a list. It is for one goroutine.
type Budget struct {
	// IsForeign reports whether a new tool of an HTTP API may not send its requests to a server without review; nil: it may to all.
	IsForeign func(server string) bool

	done      <-chan struct{}
	remaining int
}

// NewBudget returns a budget for the comparisons of one list. They end when done is closed; nil: never.
func NewBudget(done <-chan struct{}) *Budget {
	return &Budget{done: done, remaining: maxListWork}
}

// newWork returns the work of one comparison, without the reserve for the search of texts.
func (b *Budget) newWork() *work {
	available := min(maxWork, b.remaining)
	reserve := available * searchWork / maxWork
	return &work{done: b.done, remaining: available - reserve, reserve: reserve, nextCheck: available}
}

// chargeWork subtracts the work of an ended comparison.
func (b *Budget) chargeWork(w *work) { b.remaining -= w.used }

// work counts down the work of one comparison. A nil work is unbounded.
type work struct {
	done      <-chan struct{}
	remaining int // negative: exhausted
	reserve   int
	used      int
	nextCheck int // remaining work at the next check of done
}

// spendUnits charges n units and reports whether they remained.
func (w *work) spendUnits(n int) bool {
	switch {
	case w == nil:
		return true
	case w.remaining < 0:
		return false
	case n > w.remaining:
		w.used += w.remaining
		w.remaining = -1
		return false
	}
	w.remaining -= n
	w.used += n
	if w.remaining < w.nextCheck {
		w.nextCheck = w.remaining - checkInterval
		w.checkDone()
	}
	return w.remaining >= 0
}

func (w *work) checkDone() {
	select {
	case <-w.done:
		w.remaining, w.reserve = -1, 0
	default:
	}
}

// canSpend reports whether n units remain. It charges nothing.
func (w *work) canSpend(n int) bool { return w.remaining >= n }

// isExhausted reports whether no work remains. Results since then are incomplete.
func (w *work) isExhausted() bool { return w.remaining < 0 }

// releaseReserve makes the reserve available.
func (w *work) releaseReserve() {
	w.remaining = max(0, w.remaining) + w.reserve
	w.reserve = 0
	w.nextCheck = w.remaining
}
