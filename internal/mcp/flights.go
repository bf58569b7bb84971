package mcp

import (
	"time"

	"patchbay/internal/safe"
)

// flights are a conversation's exchanges under way, and the clock that ends those whose time is up. There is one clock for all of them: most
// are short, and to look at all now and then costs less than to set and stop a clock for each. The conversation's mu guards it.
type flights struct {
	under map[*timedContext]struct{}
	clock *time.Timer // nil: it was never set
	at    time.Time   // when it strikes; zero: it is not set
}

// add begins one. sooner: the clock is to be set for it.
func (f *flights) add(timed *timedContext) (sooner bool) {
	if f.under == nil {
		f.under = make(map[*timedContext]struct{})
	}
	f.under[timed] = struct{}{}
	return f.at.IsZero() || timed.at.Before(f.at)
}

// set sets the clock, which calls strike.
func (f *flights) set(at time.Time, strike func()) {
	f.at = at
	if f.clock == nil {
		f.clock = time.AfterFunc(time.Until(at), safe.Func(safe.Timer, strike))
		return
	}
	f.clock.Reset(time.Until(at))
}

// expire ends those whose time is up. next is when that of the others is; zero: there are none.
func (f *flights) expire() (next time.Time) {
	f.at = time.Time{}
	now := time.Now()
	for timed := range f.under {
		switch {
		case !timed.at.After(now):
			timed.Expire()
		case next.IsZero() || timed.at.Before(next):
			next = timed.at
		}
	}
	return next
}

// end ends all of them.
func (f *flights) end() {
	f.at = time.Time{}
	if f.clock != nil {
		f.clock.Stop()
	}
	for timed := range f.under {
		timed.end()
	}
}
