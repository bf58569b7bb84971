package admin

import (
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// callingFacts are how agents' calls reach a connector's server.
func callingFacts(c connectors.Connector, circuit toolcall.Circuit) []templates.Fact {
	limit := "no limit"
	if c.CallsPerMinute > 0 {
		limit = plural(c.CallsPerMinute, "call") + " a minute"
	}
	return []templates.Fact{
		{Label: "Calls", Value: limit},
		{Label: "Circuit breaker, in this process", Value: circuitName(circuit)},
	}
}

// circuitName says whether calls go through.
func circuitName(c toolcall.Circuit) string {
	if c.State != toolcall.CircuitClosed && c.Agents > 0 {
		return fmt.Sprintf("closed, but not for %s whose calls made the server fail", plural(c.Agents, "agent"))
	}
	switch c.State {
	case toolcall.CircuitOpen:
		return "open: calls are refused"
	case toolcall.CircuitHalfOpen:
		return "half open: one call tries"
	default:
		if c.Failures > 0 {
			return fmt.Sprintf("closed, after %s in a row", plural(c.Failures, "failure"))
		}
		return "closed: calls go through"
	}
}

// circuitAttention says that calls are refused for a while, because the server failed again and again.
func circuitAttention(c toolcall.Circuit, now time.Time) []templates.Attention {
	if c.State != toolcall.CircuitOpen || c.Agents > 0 {
		return nil
	}
	until := when(c.Until, now)
	return []templates.Attention{{
		Kind: templates.StateBad, Title: "Calls are refused for a while",
		Text: fmt.Sprintf("The server failed %s in a row, and is left alone. The next call is tried", times(c.Failures)), When: &until,
	}}
}
