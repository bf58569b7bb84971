package api

import (
	"time"

	"patchbay/internal/toolcall"
)

// breakerJSON is the circuit breaker's state for a connector's server.
type breakerJSON struct {
	State      string     `json:"state" enum:"closed,open,half_open" doc:"open: calls are refused until retry_at. half_open: one trial call runs, others are refused."`
	OpenedAt   *time.Time `json:"opened_at" doc:"When it left closed. Null if closed."`
	RetryAt    *time.Time `json:"retry_at" doc:"When the next trial call may run. Null if calls run or a trial is running."`
	Failures   int        `json:"failures" doc:"Consecutive failures."`
	Agents     int        `json:"agents" doc:"Number of agents it applies to, whose calls made the server fail. 0: all agents."`
	InstanceID string     `json:"instance_id" format:"uuid" doc:"The process that answered. Each process has its own breaker."`
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
