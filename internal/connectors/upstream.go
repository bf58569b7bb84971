package connectors

import "patchbay/internal/fault"

// MaxSaid bounds [Upstream.Said], in bytes.
const MaxSaid = 2 << 10

// Upstream is what a server said when a sync or a call failed, or did in the course of a call.
type Upstream struct {
	Said       string `json:"said,omitempty"`        // remote text, redacted and without control characters; show it as a quote
	Status     int    `json:"status,omitempty"`      // of HTTP; 0: no response
	ExitStatus *int   `json:"exit_status,omitempty"` // of a program that ended; nil: none
	NewSession bool   `json:"new_session,omitempty"` // it had lost the session of a call, which was repeated in another one
}

// UpstreamOf returns what the server of a failure said; nil: nothing.
func UpstreamOf(r *fault.Remote) *Upstream {
	if r == nil || r.Said == "" && r.HTTPStatus == 0 && r.ExitStatus == nil {
		return nil
	}
	return &Upstream{Said: r.Said, Status: r.HTTPStatus, ExitStatus: r.ExitStatus}
}

// WithoutSaid returns u without the server's words; nil: nothing is left.
func (u *Upstream) WithoutSaid() *Upstream {
	if u == nil || u.Status == 0 && u.ExitStatus == nil && !u.NewSession {
		return nil
	}
	return &Upstream{Status: u.Status, ExitStatus: u.ExitStatus, NewSession: u.NewSession}
}
