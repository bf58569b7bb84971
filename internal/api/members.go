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

// memberJSON is a member of this tenant. The id is the person's.
type memberJSON struct {
	ID             string     `json:"id" format:"uuid"`
	Email          string     `json:"email"`
	Name           string     `json:"name"`
	Role           string     `json:"role" enum:"viewer,member,admin,owner,auditor"`
	CreatedAt      time.Time  `json:"created_at"`
	LastSignedInAt *time.Time `json:"last_signed_in_at" doc:"Null if never."`
	LastSeenAt     *time.Time `json:"last_seen_at" doc:"When they last used this tenant's dashboard, accurate to a few minutes. Null if never."`
	SecondFactor   bool       `json:"second_factor" doc:"Whether sign-in with a password requires a code."`
}

// memberCreate describes a new member, with a new account.
type memberCreate struct {
	Email    string      `json:"email"`
	Name     string      `json:"name,omitempty"`
	Role     string      `json:"role" enum:"viewer,member,admin,owner,auditor"`
	Password secret.Text `json:"password" writeOnly:"true" doc:"The initial password. The account is valid for this tenant only."`
}

// memberPatch changes a member.
type memberPatch struct {
	Role *string `json:"role,omitempty" enum:"viewer,member,admin,owner,auditor"`
}

// MemberPath is the path of a member.
type MemberPath struct {
	ID string `path:"id" doc:"A member's id."`
}

func (p MemberPath) userID() (connectors.UserID, error) {
	id, ok := connectors.Ref(p.ID).UUID()
	if !ok {
		return connectors.UserID{}, fault.Errorf(fault.NotFound, "No such member.")
	}
	return connectors.UserID{UUID: id}, nil
}

func viewMember(m connectors.Member) memberJSON {
	return memberJSON{
		ID:             m.UserID.String(),
		Email:          m.Email,
		Name:           m.Name,
		Role:           string(m.Role),
		CreatedAt:      m.CreatedAt.UTC(),
		LastSignedInAt: toUTC(m.SignedIn),
		LastSeenAt:     toUTC(m.Seen),
		SecondFactor:   m.SecondFactor,
	}
}

func (h *Handler) mountMembers() {
	const tag = "Members"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/members", id: "listMembers", tag: tag,
		summary: "List members", permission: connectors.PermOwn,
	}, h.listMembers)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/members", id: "addMember", tag: tag,
		summary: "Add a member", permission: connectors.PermOwn, status: http.StatusCreated,
	}, h.addMember)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/members/{id}", id: "getMember", tag: tag,
		summary: "Get a member", permission: connectors.PermOwn,
	}, h.getMember)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/members/{id}", id: "updateMember", tag: tag,
		summary: "Update a member's role", permission: connectors.PermOwn,
	}, h.updateMember)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/members/{id}", id: "removeMember", tag: tag,
		summary: "Remove a member, except the last owner", permission: connectors.PermOwn,
	}, h.removeMember)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/members/{id}/sign_out", id: "signOutMember", tag: tag,
		summary: "Sign a member out of this tenant on all browsers and programs", permission: connectors.PermOwn,
	}, h.signOutMember)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/members/{id}/second_factor", id: "removeMemberSecondFactor", tag: tag,
		summary: "Remove a member's second factor", permission: connectors.PermOwn,
		description: "Also ends the member's sessions. For members of several tenants, only the server's operator can.",
	}, h.dropSecondFactor)
}

func (h *Handler) dropSecondFactor(ctx context.Context, actor auth.Actor, in *MemberPath) (*noContent, error) {
	id, err := in.userID()
	if err != nil {
		return nil, err
	}
	return nil, h.auth.RemoveMemberSecondFactor(ctx, actor, id)
}

func (h *Handler) signOutMember(ctx context.Context, actor auth.Actor, in *MemberPath) (*noContent, error) {
	id, err := in.userID()
	if err != nil {
		return nil, err
	}
	return nil, h.auth.SignOutMember(ctx, actor, id)
}

func (h *Handler) listMembers(ctx context.Context, actor auth.Actor, in *Paging) (*response[list[memberJSON]], error) {
	page, err := h.store.Tenant(actor.Tenant.ID).People().Members(ctx, in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewMember), nil
}

func (h *Handler) addMember(ctx context.Context, actor auth.Actor, in *struct{ JSON requestBody[memberCreate] }) (*response[memberJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	m, err := h.auth.AddMember(ctx, actor, auth.Person{
		Email: doc.Email, Name: doc.Name, Password: doc.Password, Role: connectors.Role(doc.Role),
	})
	if err != nil {
		return nil, err
	}
	return &response[memberJSON]{Body: viewMember(m)}, nil
}

func (h *Handler) getMember(ctx context.Context, actor auth.Actor, in *MemberPath) (*response[memberJSON], error) {
	id, err := in.userID()
	if err != nil {
		return nil, err
	}
	m, err := h.store.Tenant(actor.Tenant.ID).People().Member(ctx, id)
	if err != nil {
		return nil, err
	}
	return &response[memberJSON]{Body: viewMember(m)}, nil
}

type updateMemberInput struct {
	MemberPath
	JSON requestBody[memberPatch]
}

func (h *Handler) updateMember(ctx context.Context, actor auth.Actor, in *updateMemberInput) (*response[memberJSON], error) {
	id, err := in.userID()
	if err != nil {
		return nil, err
	}
	m, err := h.store.Tenant(actor.Tenant.ID).People().Member(ctx, id)
	if err != nil {
		return nil, err
	}
	patch, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	if patch.Role != nil {
		m.Role = connectors.Role(*patch.Role)
		if err := h.auth.SetMemberRole(ctx, actor, id, m.Role); err != nil {
			return nil, err
		}
	}
	return &response[memberJSON]{Body: viewMember(m)}, nil
}

func (h *Handler) removeMember(ctx context.Context, actor auth.Actor, in *MemberPath) (*noContent, error) {
	id, err := in.userID()
	if err != nil {
		return nil, err
	}
	return nil, h.auth.RemoveMember(ctx, actor, id)
}
