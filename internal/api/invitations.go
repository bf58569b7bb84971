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

type invitationJSON struct {
	ID        string    `json:"id" format:"uuid"`
	Email     string    `json:"email"`
	Role      string    `json:"role" enum:"viewer,member,admin,owner,auditor"`
	Status    string    `json:"status" enum:"waiting,lapsed,accepted,revoked"`
	InvitedBy string    `json:"invited_by"`
	CreatedAt time.Time `json:"created_at"`
	SentAt    time.Time `json:"sent_at" doc:"When the current link was created."`
	ExpiresAt time.Time `json:"expires_at" doc:"When the current link expires: 72 hours after sent_at."`
	Link      string    `json:"link,omitempty" doc:"Single-use link to send to the address, only in the response that creates it."`
	Emailed   bool      `json:"emailed,omitempty" doc:"Patchbay e-mailed the link to the address."`
}

type invitationCreate struct {
	Email string `json:"email"`
	Role  string `json:"role" enum:"viewer,member,admin,owner,auditor"`
	Mail  bool   `json:"send_email,omitempty" doc:"E-mail the link to the address. Needs an SMTP server."`
}

type invitationPath struct {
	ID string `path:"id" doc:"An invitation's id."`
}

func (p invitationPath) invitationID() (connectors.InvitationID, error) {
	id, ok := connectors.Ref(p.ID).UUID()
	if !ok {
		return connectors.InvitationID{}, fault.Errorf(fault.NotFound, "No such invitation.")
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

func (h *Handler) invitationWithLink(i connectors.Invitation, token secret.Text) *response[invitationJSON] {
	out := h.viewInvitation(i)
	out.Link = h.baseURL + auth.InvitationPath(token)
	return &response[invitationJSON]{Body: out}
}

func (h *Handler) mountInvitations() {
	const tag = "Members"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/invitations", id: "listInvitations", tag: tag,
		summary: "List open invitations, including expired ones", permission: connectors.PermOwn,
	}, h.listInvitations)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/invitations", id: "invite", tag: tag,
		summary: "Invite a person; the link is shown once", permission: connectors.PermOwn, status: http.StatusCreated,
	}, h.createInvitation)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/invitations/{id}/send", id: "sendInvitation", tag: tag,
		summary: "Create a new link for an invitation; the previous one stops working", permission: connectors.PermOwn,
	}, h.sendInvitation)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/invitations/{id}", id: "revokeInvitation", tag: tag,
		summary: "Revoke an open invitation", permission: connectors.PermOwn,
	}, h.revokeInvitation)
}

func (h *Handler) listInvitations(ctx context.Context, actor auth.Actor, in *Paging) (*response[list[invitationJSON]], error) {
	page, err := h.store.Tenant(actor.Tenant.ID).People().Invitations(ctx, in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, h.viewInvitation), nil
}

func (h *Handler) createInvitation(ctx context.Context, actor auth.Actor, in *struct{ JSON requestBody[invitationCreate] }) (*response[invitationJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	if doc.Mail && !h.mailing.Enabled() {
		return nil, fault.InvalidFields(fault.Field{Location: "send_email", Message: "No SMTP server is set up."})
	}
	i, token, err := h.auth.Invite(ctx, actor, doc.Email, connectors.Role(doc.Role))
	if err != nil {
		return nil, err
	}
	made := h.invitationWithLink(i, token)
	made.Body.Emailed = doc.Mail && h.mailing.Invite(ctx, actor.Tenant, i, token) == nil // a failure is logged there
	return made, nil
}

func (h *Handler) sendInvitation(ctx context.Context, actor auth.Actor, in *invitationPath) (*response[invitationJSON], error) {
	id, err := in.invitationID()
	if err != nil {
		return nil, err
	}
	i, token, err := h.auth.SendInvitation(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	return h.invitationWithLink(i, token), nil
}

func (h *Handler) revokeInvitation(ctx context.Context, actor auth.Actor, in *invitationPath) (*noContent, error) {
	id, err := in.invitationID()
	if err != nil {
		return nil, err
	}
	return nil, h.auth.RevokeInvitation(ctx, actor, id)
}
