package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// memberClientJSON is a program that acts as a member.
type memberClientJSON struct {
	ID        string    `json:"id" format:"uuid"`
	ClientID  string    `json:"client_id" doc:"The id of a self-registered program, or the URL of its client document."`
	Name      string    `json:"name" doc:"The program's name, not verified."`
	Host      string    `json:"host" doc:"The host of its client document. Empty if its identity is not verified."`
	Scope     string    `json:"scope" enum:"admin:read,admin" doc:"Read-only like a viewer, or the member's full access."`
	Resource  string    `json:"resource" doc:"The address that its tokens are valid for."`
	UserID    string    `json:"user_id" format:"uuid" doc:"The user it acts for."`
	User      string    `json:"user" doc:"The user's name or email."`
	CreatedAt time.Time `json:"created_at"`
	UsedAt    time.Time `json:"used_at"`
	ExpiresAt time.Time `json:"expires_at" doc:"When its access ends, unless it refreshes its token."`
}

type listMemberClientsInput struct {
	MemberPath
	Paging
}

type memberClientPath struct {
	MemberPath
	Client string `path:"client_id" doc:"The program's client id."`
}

func (h *Handler) mountMemberClients() {
	const tag = "Members"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/members/{id}/clients", id: "listMemberClients", tag: tag,
		summary: "List programs that act as a member, newest first", permission: connectors.PermOwn,
	}, h.listMemberClients)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/members/{id}/clients/{client_id}", id: "endMemberClient", tag: tag,
		summary: "Revoke the access of a program that acts as a member", permission: connectors.PermOwn,
	}, h.endMemberClient)
}

func (h *Handler) listMemberClients(ctx context.Context, actor auth.Actor, in *listMemberClientsInput) (*response[list[memberClientJSON]], error) {
	user, err := in.userID()
	if err != nil {
		return nil, err
	}
	if _, err := h.store.Tenant(actor.Tenant.ID).People().Member(ctx, user); err != nil {
		return nil, err
	}
	page, err := h.programs.MemberClients(ctx, actor, &user, in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, h.viewMemberClient), nil
}

func (h *Handler) viewMemberClient(c connectors.AgentClient) memberClientJSON {
	return memberClientJSON{
		ID: c.ID.String(), ClientID: c.ClientID, Name: c.Name, Host: c.Host, Scope: string(c.Scope), Resource: h.baseURL + c.Resource,
		UserID: c.UserID.String(), User: cmp.Or(c.Person, c.Email), CreatedAt: c.CreatedAt, UsedAt: c.UsedAt, ExpiresAt: c.ExpiresAt,
	}
}

func (h *Handler) endMemberClient(ctx context.Context, actor auth.Actor, in *memberClientPath) (*noContent, error) {
	user, err := in.userID()
	if err != nil {
		return nil, err
	}
	id, ok := connectors.Ref(in.Client).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "No such client.")
	}
	return nil, h.programs.EndAsMember(ctx, actor, user, connectors.AgentClientID{UUID: id})
}
