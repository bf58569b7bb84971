package calls

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// approvalShow shows one call that waits or waited for approval.
func (h *Handler) approvalShow(w http.ResponseWriter, r *http.Request) error {
	id, err := shell.CallID(r)
	if err != nil {
		return err
	}
	waiting, err := h.Calls.Approval(r.Context(), shell.Actor(r), id)
	if err != nil {
		return err
	}
	cards, err := h.ApprovalCards(r.Context(), shell.Actor(r), []toolcall.PendingApproval{waiting})
	if err != nil {
		return err
	}
	frame := h.NewFrame(r, templates.NavApprovals, shell.NewCrumb(i18n.T(r.Context(), "Approvals"), "/approvals"), templates.Crumb{Text: cards[0].Tool, Mono: true})
	frame.Title = i18n.T(r.Context(), "Approval · %s", cards[0].Tool)
	frame.Listen = "/events?on=approvals&id=" + id.String()
	if !cards[0].Waiting {
		call, err := h.Calls.ReadSummary(r.Context(), shell.Actor(r), id)
		switch {
		case err == nil:
			FollowCall(r.Context(), &cards[0], call, shell.Actor(r), true, h.Now())
		case !fault.Is(err, fault.NotFound): // the history may have forgotten the call
			return err
		}
	}
	cards[0].ReturnTo = cards[0].Action
	return h.Respond.Page(w, r, http.StatusOK, templates.Approval(templates.ApprovalPage{Frame: frame, Card: cards[0]}))
}
