package admin

import (
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// Limits of open event streams. Each holds a connection and queries the database every few seconds.
const (
	maxStreams       = 500 // per process, unless Options says otherwise
	maxPersonStreams = 10  // per person; each tab has one
)

// acquireStream takes a slot for one more stream of a person, until release is called. It fails with
// RateLimited if there is none.
func (h *Handler) acquireStream(person connectors.UserID) (release func(), err error) {
	if !h.streams.TryAcquire(person) {
		f := fault.Errorf(fault.RateLimited, "Too many pages listen for news at once. Close some, or reload them to see what is new.")
		f.RetryAfter = int(keepAliveInterval.Seconds())
		return nil, f
	}
	return func() { h.streams.Release(person) }, nil
}
