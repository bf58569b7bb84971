package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"patchbay/internal/fault"
)

// maxGateWait is how long a request waits for a slot. Most requests take milliseconds.
const maxGateWait = 2 * time.Second

// responseGate bounds concurrent large responses. Each is in memory until the client has read it.
type responseGate chan struct{}

func newResponseGate(capacity int) responseGate { return make(responseGate, capacity) }

// acquire waits for a slot.
func (g responseGate) acquire(ctx context.Context) (release func(), err error) {
	patience := time.NewTimer(maxGateWait)
	defer patience.Stop()
	select {
	case g <- struct{}{}:
		return func() { <-g }, nil
	case <-patience.C:
	case <-ctx.Done():
	}
	f := fault.Errorf(fault.Unavailable, "%d requests with large responses are already running. Try again shortly.", cap(g))
	f.RetryAfter = 5
	return nil, f
}

// limitByGate gives an operation's requests a slot until their responses are written.
func (h *Handler) limitByGate(g responseGate) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		release, err := g.acquire(ctx.Context())
		if err != nil {
			r, w := humachi.Unwrap(ctx)
			h.respond.Problem(w, r, err)
			return
		}
		defer release()
		next(ctx)
	}
}
