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
func (f *deadlineTimer) add(exchange *exchangeContext) (sooner bool) {
	if f.exchanges == nil {
		f.exchanges = make(map[*exchangeContext]struct{})
	}
	f.exchanges[exchange] = struct{}{}
	return f.firesAt.IsZero() || exchange.deadline.Before(f.firesAt)
}

func (f *deadlineTimer) setTimer(at time.Time, onFire func()) {
	f.firesAt = at
	if f.timer == nil {
		f.timer = time.AfterFunc(time.Until(at), safe.Func(safe.Timer, onFire))
		return
	}
	f.timer.Reset(time.Until(at))
}

// expireDue expires the exchanges that are due. next is the earliest deadline of the others; zero: there are
// none.
func (f *deadlineTimer) expireDue() (next time.Time) {
	f.firesAt = time.Time{}
	now := time.Now()
	for exchange := range f.exchanges {
		switch {
		case !exchange.deadline.After(now):
			exchange.Expire()
		case next.IsZero() || exchange.deadline.Before(next):
			next = exchange.deadline
		}
	}
	return next
}

func (f *deadlineTimer) cancelAll() {
	f.firesAt = time.Time{}
	if f.timer != nil {
		f.timer.Stop()
	}
	for exchange := range f.exchanges {
		exchange.cancel()
	}
}
