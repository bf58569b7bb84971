package api

import "patchbay/internal/connectors"

// upstreamSaidJSON is what a server said when a sync, a test or a call failed.
type upstreamSaidJSON struct {
	Said       string `json:"said" doc:"The server's own words, at most 2048 bytes: the beginning of its response, or of the message and data of its JSON-RPC error; of a program the end of its standard error. Secrets are replaced by [redacted], and invisible characters by escapes. It is remote text: show it as a quote. Empty: nothing is known."`
	Status     *int   `json:"status" doc:"Of HTTP; null without a response."`
	ExitStatus *int   `json:"exit_status,omitempty" doc:"Of a program that ended."`
}

func viewUpstreamSaid(u *connectors.Upstream) *upstreamSaidJSON {
	if u == nil {
		return nil
	}
	out := &upstreamSaidJSON{Said: u.Said, ExitStatus: u.ExitStatus}
	if u.Status != 0 {
		out.Status = &u.Status
	}
	return out
}
