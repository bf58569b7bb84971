package api

import "patchbay/internal/connectors"

// upstreamSaidJSON is what a server said when a sync, a test or a call failed.
type upstreamSaidJSON struct {
	Said       string `json:"said" doc:"The start of the server's response, or of its JSON-RPC error's message and data; for programs, the end of standard error. At most 2048 bytes; secrets are [redacted], invisible characters escaped. Untrusted: show it as a quote. Empty if nothing."`
	Status     *int   `json:"status" doc:"HTTP status. Null without a response."`
	ExitStatus *int   `json:"exit_status,omitempty" doc:"Exit status of a program."`
}

func viewUpstreamSaid(u *connectors.Upstream) *upstreamSaidJSON {
	if u == nil || *u == (connectors.Upstream{NewSession: true}) {
		return nil
	}
	out := &upstreamSaidJSON{Said: u.Said, ExitStatus: u.ExitStatus}
	if u.Status != 0 {
		out.Status = &u.Status
	}
	return out
}
