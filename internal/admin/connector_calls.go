package admin

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// callingFacts describe how calls reach a connector's server.
func callingFacts(ctx context.Context, c connectors.Connector, circuit toolcall.Circuit) []templates.Fact {
	limit := words.T(ctx, "no limit")
	if c.CallsPerMinute > 0 {
		limit = words.N(ctx, c.CallsPerMinute, "%s call a minute", "%s calls a minute")
	}
	return []templates.Fact{
		{Label: words.T(ctx, "Calls"), Value: limit},
		{Label: words.T(ctx, "Circuit breaker, in this process"), Value: circuitName(ctx, circuit)},
	}
}

// circuitName words the circuit breaker's state.
func circuitName(ctx context.Context, c toolcall.Circuit) string {
	if c.State != toolcall.CircuitClosed && c.Agents > 0 {
		return words.T(ctx, "closed, but not for %s whose calls made the server fail", words.N(ctx, c.Agents, "%s agent", "%s agents"))
	}
	switch c.State {
	case toolcall.CircuitOpen:
		return words.T(ctx, "open: calls are refused")
	case toolcall.CircuitHalfOpen:
		return words.T(ctx, "half open: one call tries")
	default:
		if c.Failures > 0 {
			return words.T(ctx, "closed, after %s in a row", words.N(ctx, c.Failures, "%s failure", "%s failures"))
		}
		return words.T(ctx, "closed: calls go through")
	}
}

// circuitAttention says that calls are refused because the circuit breaker is open.
func circuitAttention(ctx context.Context, c toolcall.Circuit, now time.Time) []templates.Attention {
	if c.State != toolcall.CircuitOpen || c.Agents > 0 {
		return nil
	}
	until := newWhen(ctx, c.Until, now)
	return []templates.Attention{{
		Kind: templates.StateBad, Title: words.T(ctx, "Calls are refused for a while"),
		Text: words.T(ctx, "The server failed %s in a row, and is left alone. The next call is tried", formatTimes(ctx, c.Failures)), When: &until,
	}}
}
