package mcp

import (
	"time"

	"patchbay/internal/safe"
)

// deadlineTimer holds the running exchanges of a connection and one timer that expires them. Most exchanges are
// short, so an occasional scan costs less than a timer for each. The connection's mu guards it.
type deadlineTimer struct {
	exchanges map[*exchangeContext]struct{}
	timer     *time.Timer // nil: never set
	firesAt   time.Time   // zero: not set
}

// add registers an exchange. sooner: the timer must be set to its deadline.
func (t *deadlineTimer) add(exchange *exchangeContext) (sooner bool) {
	if t.exchanges == nil {
		t.exchanges = make(map[*exchangeContext]struct{})
	}
	t.exchanges[exchange] = struct{}{}
	return t.firesAt.IsZero() || exchange.deadline.Before(t.firesAt)
}

func (t *deadlineTimer) setTimer(at time.Time, onFire func()) {
	t.firesAt = at
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(at), safe.Func(safe.Timer, onFire))
		return
	}
	t.timer.Reset(time.Until(at))
}

// expireDue expires the exchanges that are due. next is the earliest deadline of the others; zero: there are
// none.
func (t *deadlineTimer) expireDue() (next time.Time) {
	t.firesAt = time.Time{}
	now := time.Now()
	for exchange := range t.exchanges {
		switch {
		case !exchange.deadline.After(now):
			exchange.CancelDeadline()
		case next.IsZero() || exchange.deadline.Before(next):
			next = exchange.deadline
		}
	}
	return next
}

func (t *deadlineTimer) cancelAll() {
	t.firesAt = time.Time{}
	if t.timer != nil {
		t.timer.Stop()
	}
	for exchange := range t.exchanges {
		exchange.cancel()
	}
}
