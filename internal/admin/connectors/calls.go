package connectors

import (
	"context"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// callingFacts describe how calls reach a connector's server.
func callingFacts(ctx context.Context, c connectors.Connector, circuit toolcall.Circuit) []templates.Fact {
	limit := i18n.T(ctx, "no limit")
	if c.CallsPerMinute > 0 {
		limit = i18n.N(ctx, c.CallsPerMinute, "%s call per minute", "%s calls per minute")
	}
	return []templates.Fact{
		{Label: i18n.T(ctx, "Calls"), Value: limit},
		{Label: i18n.T(ctx, "Circuit breaker (this process)"), Value: circuitName(ctx, circuit)},
	}
}

// circuitName words the circuit breaker's state.
func circuitName(ctx context.Context, c toolcall.Circuit) string {
	if c.State != toolcall.CircuitClosed && c.Agents > 0 {
		return i18n.T(ctx, "closed, except for %s with failing calls", i18n.N(ctx, c.Agents, "%s agent", "%s agents"))
	}
	switch c.State {
	case toolcall.CircuitOpen:
		return i18n.T(ctx, "open: refusing calls")
	case toolcall.CircuitHalfOpen:
		return i18n.T(ctx, "half open: testing")
	default:
		if c.Failures > 0 {
			return i18n.T(ctx, "closed, after %s in a row", i18n.N(ctx, c.Failures, "%s failure", "%s failures"))
		}
		return i18n.T(ctx, "closed")
	}
}

// circuitAttention says that calls are refused because the circuit breaker is open.
func circuitAttention(ctx context.Context, c toolcall.Circuit, now time.Time) []templates.Attention {
	if c.State != toolcall.CircuitOpen || c.Agents > 0 {
		return nil
	}
	until := shell.NewWhen(ctx, c.Until, now)
	return []templates.Attention{{
		Kind: templates.StateBad, Title: i18n.T(ctx, "Calls temporarily refused"),
		Text: i18n.T(ctx, "The server failed %s in a row. Next attempt", shell.FormatTimes(ctx, c.Failures)), When: &until,
	}}
}
