package agents

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
)

// accessRequestAccept accepts a request. It asks as a grant does if the agent's access becomes broad.
func (h *Handler) accessRequestAccept(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	review, err := h.reviewRequest(r)
	if err != nil {
		return err
	}
	decision := manage.RequestDecision{Accept: true, Note: f.Text("note")}
	if f.Values.Has("until") && f.Text("until") != endAsAsked {
		until, err := readEnd(f, nil, h.Now())
		if problem, ok := shell.AsFormFault(r.Context(), err); ok {
			return h.accessRequestPage(w, r, respond.Status(problem.Kind), review, f.ToForm(problem))
		}
		if err != nil {
			return err
		}
		decision.Until = &until
	}
	g := grantState{agent: review.Agent, connector: review.Connector, exists: review.Before != nil}
	if review.Before != nil {
		g.grant = *review.Before
	}
	if review.Request.State == connectors.RequestOpen {
		if asked, err := h.askBroadGrant(w, r, f, g, review.After); asked || err != nil {
			return err
		}
	}
	return h.decideRequest(w, r, f, decision)
}

// accessRequestRefuse refuses a request.
func (h *Handler) accessRequestRefuse(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	return h.decideRequest(w, r, f, manage.RequestDecision{Note: f.Text("note")})
}

func (h *Handler) decideRequest(w http.ResponseWriter, r *http.Request, f shell.PostedForm, d manage.RequestDecision) error {
	id, err := accessRequestID(r)
	if err != nil {
		return err
	}
	decided, err := h.Registry.DecideRequest(r.Context(), shell.Actor(r), id, d)
	problem, ok := shell.AsFormFault(r.Context(), err)
	switch {
	case ok && problem.Kind == fault.Conflict: // decided or withdrawn in between
		return h.Respond.Back(w, r, accessRequestPath(id), respond.Flash{Kind: respond.Alert, Text: problem.Message})
	case ok:
		review, err := h.reviewRequest(r)
		if err != nil {
			return err
		}
		return h.accessRequestPage(w, r, respond.Status(problem.Kind), review, f.ToForm(problem))
	case err != nil:
		return err
	}
	text := i18n.T(r.Context(), "Refused.")
	if d.Accept {
		text = i18n.T(r.Context(), "Accepted. “%s” can use it now.", decided.Agent.Name)
	}
	return h.Respond.Back(w, r, accessRequestPath(id), respond.Flash{Kind: respond.Notice, Text: text})
}

// accessRequestWithdraw ends a request of the actor.
func (h *Handler) accessRequestWithdraw(w http.ResponseWriter, r *http.Request) error {
	id, err := accessRequestID(r)
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Request withdrawn.")}
	err = h.Registry.WithdrawRequest(r.Context(), shell.Actor(r), id)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		flash = respond.Flash{Kind: respond.Alert, Text: problem.Message}
	} else if err != nil {
		return err
	}
	return h.Respond.Back(w, r, accessRequestPath(id), flash)
}
