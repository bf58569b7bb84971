package api

import (
	"time"

	"patchbay/internal/toolcall"
)

// breakerJSON is the circuit breaker's state for a connector's server.
type breakerJSON struct {
	State      string     `json:"state" enum:"closed,open,half_open" doc:"open: calls are refused until retry_at. half_open: one call tries, the others are refused."`
	OpenedAt   *time.Time `json:"opened_at" doc:"Since when it is not closed; null: it is."`
	RetryAt    *time.Time `json:"retry_at" doc:"When the next call tries; null: calls go through, or one tries by now."`
	Failures   int        `json:"failures" doc:"In a row, up to now."`
	Agents     int        `json:"agents" doc:"Where it is not closed: for so many agents alone, whose calls made the server fail; 0: for all."`
	InstanceID string     `json:"instance_id" format:"uuid" doc:"The process that answered. Each process of Patchbay has a breaker of its own, by what its own calls met."`
}

func (h *Handler) viewBreaker(c toolcall.Circuit) breakerJSON {
	out := breakerJSON{State: string(c.State), Failures: c.Failures, Agents: c.Agents, InstanceID: h.calls.Instance().String()}
	if c.State != toolcall.CircuitClosed {
		out.OpenedAt = toUTC(&c.Opened)
	}
	if c.State == toolcall.CircuitOpen {
		out.RetryAt = toUTC(&c.Until)
	}
	return out
}
