package calls

import (
	"fmt"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/toolcall"
)

// allowancePeriod is how long a tool, a prompt or a resource may be used without approval after a person said so.
const allowancePeriod = 2 * time.Hour

// approvalApprove approves a waiting call, and the next ones of the same tool, prompt or resource for allowancePeriod if chosen.
func (h *Handler) approvalApprove(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	d := toolcall.Decision{Approve: true}
	message := i18n.T(r.Context(), "Approved: %s.")
	if f.Text("allow") != "" {
		d.AllowFor, message = allowancePeriod, i18n.T(r.Context(), "Approved: %s. Standing approval granted for 2 hours; revoke it on the agent's page.")
	}
	return h.decideApproval(w, r, f, d, message)
}

// approvalDeny denies a waiting call.
func (h *Handler) approvalDeny(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	return h.decideApproval(w, r, f, toolcall.Decision{Reason: f.Text("reason")}, i18n.T(r.Context(), "Denied: %s."))
}

// decideApproval records the decision and redirects to the page that it came from.
func (h *Handler) decideApproval(w http.ResponseWriter, r *http.Request, f shell.PostedForm, d toolcall.Decision, message string) error {
	id, err := shell.CallID(r)
	if err != nil {
		return err
	}
	to := respond.OwnPath(f.Text("return_to"), shell.ApprovalPath(id))
	call, err := h.Calls.Decide(r.Context(), shell.Actor(r), id, d)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Alert, Text: problem.Message}) // another person decided first
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: fmt.Sprintf(message, shell.ShortenText(call.Tool, shell.MaxName))})
}
