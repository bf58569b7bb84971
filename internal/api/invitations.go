package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// invitationJSON asks an address to become a member.
type invitationJSON struct {
	ID        string    `json:"id" format:"uuid"`
	Email     string    `json:"email"`
	Role      string    `json:"role" enum:"viewer,member,admin,owner,auditor"`
	Status    string    `json:"status" enum:"waiting,lapsed,accepted,revoked"`
	InvitedBy string    `json:"invited_by"`
	CreatedAt time.Time `json:"created_at"`
	SentAt    time.Time `json:"sent_at" doc:"When its present link was made."`
	ExpiresAt time.Time `json:"expires_at" doc:"Of its present link: 72 hours after it was made."`
	Link      string    `json:"link,omitempty" doc:"To be sent to the address; only in the answer that makes it. It works once."`
}

// invitationCreate describes a new invitation.
type invitationCreate struct {
	Email string `json:"email"`
	Role  string `json:"role" enum:"viewer,member,admin,owner,auditor"`
}

type invitationPath struct {
	ID string `path:"id" doc:"An invitation's id."`
}

func (p invitationPath) invitationID() (connectors.InvitationID, error) {
	id, ok := connectors.Ref(p.ID).UUID()
	if !ok {
		return connectors.InvitationID{}, fault.Errorf(fault.NotFound, "There is no such invitation.")
	}
	return connectors.InvitationID{UUID: id}, nil
}

func (h *Handler) viewInvitation(i connectors.Invitation) invitationJSON {
	return invitationJSON{
		ID:        i.ID.String(),
		Email:     i.Email,
		Role:      string(i.Role),
		Status:    string(i.State(time.Now())),
		InvitedBy: i.InvitedBy,
		CreatedAt: i.CreatedAt.UTC(),
		SentAt:    i.SentAt.UTC(),
		ExpiresAt: i.ExpiresAt.UTC(),
	}
}

func (h *Handler) linked(i connectors.Invitation, token secret.Text) *answer[invitationJSON] {
	out := h.viewInvitation(i)
	out.Link = h.baseURL + auth.InvitationPath(token)
	return &answer[invitationJSON]{Body: out}
}

func (h *Handler) mountInvitations() {
	const tag = "Members"
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/invitations", id: "listInvitations", tag: tag,
		summary: "List the open invitations, lapsed ones too", may: connectors.PermOwn,
	}, h.listInvitations)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/invitations", id: "invite", tag: tag,
		summary: "Invite an address; the link is shown once", may: connectors.PermOwn, status: http.StatusCreated,
	}, h.createInvitation)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/invitations/{id}/send", id: "sendInvitation", tag: tag,
		summary: "Make another link for an open invitation; the one before opens nothing any more", may: connectors.PermOwn,
	}, h.sendInvitation)
	register(h, operation{
		method: http.MethodDelete, path: "/api/v1/invitations/{id}", id: "revokeInvitation", tag: tag,
		summary: "Take an open invitation back", may: connectors.PermOwn,
	}, h.revokeInvitation)
}

func (h *Handler) listInvitations(ctx context.Context, who auth.Actor, in *Paging) (*answer[list[invitationJSON]], error) {
	page, err := h.store.Tenant(who.Tenant.ID).Invitations(ctx, in.page())
	if err != nil {
		return nil, err
	}
	return listOf(page, h.viewInvitation), nil
}

func (h *Handler) createInvitation(ctx context.Context, who auth.Actor, in *struct{ JSON document[invitationCreate] }) (*answer[invitationJSON], error) {
	doc, err := in.JSON.read()
	if err != nil {
		return nil, err
	}
	i, token, err := h.auth.Invite(ctx, who, doc.Email, connectors.Role(doc.Role))
	if err != nil {
		return nil, err
	}
	return h.linked(i, token), nil
}

func (h *Handler) sendInvitation(ctx context.Context, who auth.Actor, in *invitationPath) (*answer[invitationJSON], error) {
	id, err := in.invitationID()
	if err != nil {
		return nil, err
	}
	i, token, err := h.auth.SendInvitation(ctx, who, id)
	if err != nil {
		return nil, err
	}
	return h.linked(i, token), nil
}

func (h *Handler) revokeInvitation(ctx context.Context, who auth.Actor, in *invitationPath) (*nothing, error) {
	id, err := in.invitationID()
	if err != nil {
		return nil, err
	}
	return nil, h.auth.RevokeInvitation(ctx, who, id)
}
