package admin

import (
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// invite asks an address to become a member. The link is shown on the page that answers, and nowhere else: as a new key.
func (h *Handler) invite(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	i, token, err := h.auth.Invite(r.Context(), actor(r), f.text("email"), connectors.Role(f.text("role")))
	if problem, ok := mendable(r.Context(), err); ok {
		return h.membersPage(w, r, respond.Status(problem.Kind), membersNews{invite: f.again(problem)})
	}
	if err != nil {
		return err
	}
	return h.invited(w, r, i, token)
}

// inviteAgain makes another link for an open invitation.
func (h *Handler) inviteAgain(w http.ResponseWriter, r *http.Request) error {
	id, err := invitationID(r)
	if err != nil {
		return err
	}
	i, token, err := h.auth.SendInvitation(r.Context(), actor(r), id)
	if err != nil {
		return err
	}
	return h.invited(w, r, i, token)
}

func (h *Handler) invited(w http.ResponseWriter, r *http.Request, i connectors.Invitation, token secret.Text) error {
	return h.membersPage(w, r, http.StatusOK, membersNews{made: &templates.NewInvitation{
		Email: i.Email,
		Role:  roleName(r.Context(), i.Role),
		URL:   h.baseURL + auth.InvitationPath(token),
		Ends:  when(r.Context(), i.ExpiresAt, h.now()),
	}})
}

// inviteRevoke takes an open invitation back.
func (h *Handler) inviteRevoke(w http.ResponseWriter, r *http.Request) error {
	id, err := invitationID(r)
	if err != nil {
		return err
	}
	if err := h.auth.RevokeInvitation(r.Context(), actor(r), id); err != nil {
		return err
	}
	return h.respond.Back(w, r, "/members", respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "The invitation is taken back.")})
}

func invitationID(r *http.Request) (connectors.InvitationID, error) {
	id, ok := ref(r, "id").UUID()
	if !ok {
		return connectors.InvitationID{}, fault.Errorf(fault.NotFound, "There is no such invitation.")
	}
	return connectors.InvitationID{UUID: id}, nil
}
