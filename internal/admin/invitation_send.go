package admin

import (
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// inviteSend invites an address, and shows the link on the response page alone, as keyCreate does.
func (h *Handler) inviteSend(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	i, token, err := h.auth.Invite(r.Context(), actor(r), f.text("email"), connectors.Role(f.text("role")))
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.membersPage(w, r, respond.Status(problem.Kind), membersPageState{invite: f.toForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.invitationPage(w, r, i, token)
}

// inviteAgain creates another link for an open invitation.
func (h *Handler) inviteAgain(w http.ResponseWriter, r *http.Request) error {
	id, err := invitationID(r)
	if err != nil {
		return err
	}
	i, token, err := h.auth.SendInvitation(r.Context(), actor(r), id)
	if err != nil {
		return err
	}
	return h.invitationPage(w, r, i, token)
}

func (h *Handler) invitationPage(w http.ResponseWriter, r *http.Request, i connectors.Invitation, token secret.Text) error {
	return h.membersPage(w, r, http.StatusOK, membersPageState{created: &templates.NewInvitation{
		Email: i.Email,
		Role:  roleName(r.Context(), i.Role),
		URL:   h.baseURL + auth.InvitationPath(token),
		Ends:  newWhen(r.Context(), i.ExpiresAt, h.now()),
	}})
}

// inviteRevoke revokes an open invitation.
func (h *Handler) inviteRevoke(w http.ResponseWriter, r *http.Request) error {
	id, err := invitationID(r)
	if err != nil {
		return err
	}
	if err := h.auth.RevokeInvitation(r.Context(), actor(r), id); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/members", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The invitation is taken back.")})
}

func invitationID(r *http.Request) (connectors.InvitationID, error) {
	id, ok := pathRef(r, "id").UUID()
	if !ok {
		return connectors.InvitationID{}, fault.Errorf(fault.NotFound, "There is no such invitation.")
	}
	return connectors.InvitationID{UUID: id}, nil
}
