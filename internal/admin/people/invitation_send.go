package people

import (
	"net/http"

	"patchbay/internal/admin/shell"
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
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	i, token, err := h.Auth.Invite(r.Context(), shell.Actor(r), f.Text("email"), connectors.Role(f.Text("role")))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.membersPage(w, r, respond.Status(problem.Kind), membersPageState{invite: f.ToForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.invitationPage(w, r, i, token, f.Checked("mail"))
}

// inviteAgain creates another link for an open invitation, and e-mails it where that is set up.
func (h *Handler) inviteAgain(w http.ResponseWriter, r *http.Request) error {
	id, err := invitationID(r)
	if err != nil {
		return err
	}
	i, token, err := h.Auth.SendInvitation(r.Context(), shell.Actor(r), id)
	if err != nil {
		return err
	}
	return h.invitationPage(w, r, i, token, true)
}

func (h *Handler) invitationPage(w http.ResponseWriter, r *http.Request, i connectors.Invitation, token secret.Text, mail bool) error {
	created := &templates.NewInvitation{
		Email: i.Email,
		Role:  shell.RoleName(r.Context(), i.Role),
		URL:   h.BaseURL + auth.InvitationPath(token),
		Ends:  shell.NewWhen(r.Context(), i.ExpiresAt, h.Now()),
	}
	if mail && h.Mailing.Enabled() {
		created.Mailed = i18n.T(r.Context(), "Emailed to %s. You can also share the link yourself.", i.Email)
		if err := h.Mailing.Invite(r.Context(), shell.Actor(r).Tenant, i, token); err != nil { // logged there
			created.Mailed, created.Failed = i18n.T(r.Context(), "The email to %s wasn't sent. Share the link yourself.", i.Email), true
		}
	}
	return h.membersPage(w, r, http.StatusOK, membersPageState{created: created})
}

// inviteRevoke revokes an open invitation.
func (h *Handler) inviteRevoke(w http.ResponseWriter, r *http.Request) error {
	id, err := invitationID(r)
	if err != nil {
		return err
	}
	if err := h.Auth.RevokeInvitation(r.Context(), shell.Actor(r), id); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/members", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Invitation revoked.")})
}

func invitationID(r *http.Request) (connectors.InvitationID, error) {
	id, ok := shell.PathRef(r, "id").UUID()
	if !ok {
		return connectors.InvitationID{}, fault.Errorf(fault.NotFound, "No such invitation.")
	}
	return connectors.InvitationID{UUID: id}, nil
}
