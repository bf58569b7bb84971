package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"patchbay/internal/fault"
)

// gatePatience is how long a request waits for its turn: most of those before it take milliseconds.
const gatePatience = 2 * time.Second

// gate lets a few requests through at once, whose answers are large: each is in memory until the caller has taken it.
type gate chan struct{}

func newGate(most int) gate { return make(gate, most) }

// enter waits for a turn. The caller calls leave at its end.
func (g gate) enter(ctx context.Context) (leave func(), err error) {
	patience := time.NewTimer(gatePatience)
	defer patience.Stop()
	select {
	case g <- struct{}{}:
		return func() { <-g }, nil
	case <-patience.C:
	case <-ctx.Done():
	}
	f := fault.Errorf(fault.Unavailable, "%d answers as large as this one are on their way already. Try again in a moment.", cap(g))
	f.RetryAfter = 5
	return nil, f
}

// through holds an operation's requests at a gate until their answers are written.
func (h *Handler) through(g gate) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		leave, err := g.enter(ctx.Context())
		if err != nil {
			r, w := humachi.Unwrap(ctx)
			h.respond.Problem(w, r, err)
			return
		}
		defer leave()
		next(ctx)
	}
}
