package events

import (
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// acquireStream takes a slot for one more stream of a person, until release is called. It fails with
// RateLimited if there is none.
func (h *Handler) acquireStream(person connectors.UserID) (release func(), err error) {
	if !h.Streams.TryAcquire(person) {
		f := fault.Errorf(fault.RateLimited, "Too many open pages. Close some, or reload for updates.")
		f.RetryAfter = int(keepAliveInterval.Seconds())
		return nil, f
	}
	return func() { h.Streams.Release(person) }, nil
}
