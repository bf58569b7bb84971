package admin

import (
	"fmt"
	"net/http"
	"time"

	"patchbay/internal/respond"
	"patchbay/internal/toolcall"
	"patchbay/internal/words"
)

// allowance is how long a tool may be called without asking, where a person says so.
const allowance = 2 * time.Hour

// approvalApprove lets a waiting call go ahead, and the next ones of that tool where it is allowed for a while.
func (h *Handler) approvalApprove(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	d := toolcall.Decision{Approve: true}
	said := words.T(r.Context(), "Approved: %s.")
	if f.text("allow") != "" {
		d.Allow, said = allowance, words.T(r.Context(), "Approved: %s. For 2 hours the agent may call it without asking.")
	}
	return h.decide(w, r, f, d, said)
}

// approvalDeny refuses a waiting call.
func (h *Handler) approvalDeny(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	return h.decide(w, r, f, toolcall.Decision{Reason: f.text("reason")}, words.T(r.Context(), "Denied: %s."))
}

// decide says what a person decided, and goes back to where it was decided.
func (h *Handler) decide(w http.ResponseWriter, r *http.Request, f form, d toolcall.Decision, said string) error {
	id, err := callID(r)
	if err != nil {
		return err
	}
	to := respond.OwnPath(f.text("return_to"), approvalPath(id))
	call, err := h.calls.Decide(r.Context(), actor(r), id, d)
	if problem, ok := mendable(r.Context(), err); ok {
		return h.respond.Back(w, r, to, respond.Flash{Kind: respond.Alert, Text: problem.Message}) // somebody was faster
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: fmt.Sprintf(said, shorten(call.Tool, maxName))})
}
