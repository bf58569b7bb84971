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

// scimJSON is the state of the tenant's SCIM address.
type scimJSON struct {
	Enabled       bool       `json:"enabled"`
	URL           string     `json:"url" doc:"The base URL for the identity provider (RFC 7644)."`
	TokenPrefix   *string    `json:"token_prefix" doc:"Null if off."`
	Token         string     `json:"token,omitempty" doc:"Only in the response that creates it."`
	CreatedAt     *time.Time `json:"created_at" doc:"Null if off."`
	RotatedAt     *time.Time `json:"rotated_at" doc:"Null if the token is the first."`
	LastRequestAt *time.Time `json:"last_request_at" doc:"The provider's last request, to the minute. Null if none."`
	Users         int        `json:"users" doc:"People that the provider manages."`
	Members       int        `json:"members" doc:"Of these, members now."`
	Groups        int        `json:"groups"`
}

func (h *Handler) viewSCIM(s connectors.SCIM, token secret.Text) *response[scimJSON] {
	return &response[scimJSON]{Body: scimJSON{
		Enabled: true, URL: h.scim.URL(), TokenPrefix: &s.TokenPrefix, Token: token.Reveal(), CreatedAt: &s.CreatedAt, RotatedAt: toUTC(s.RotatedAt),
		LastRequestAt: toUTC(s.LastRequestAt), Users: s.Users, Members: s.Members, Groups: s.Groups,
	}}
}

func (h *Handler) mountSCIM() {
	const tag = "SCIM"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/scim", id: "getSCIM", tag: tag,
		summary: "Get the state of SCIM provisioning", permission: connectors.PermOwn,
		description: "The identity provider speaks SCIM 2.0 (RFC 7643, RFC 7644) at url, with Users and Groups. Roles come from the groups of single sign-on.",
	}, h.getSCIM)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/scim", id: "enableSCIM", tag: tag,
		summary: "Turn on SCIM; its token is shown once", permission: connectors.PermOwn, status: http.StatusCreated,
	}, h.enableSCIM)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/scim/rotate_token", id: "rotateSCIMToken", tag: tag,
		summary: "Replace the token, shown once; the previous one ends at once", permission: connectors.PermOwn, status: http.StatusOK,
	}, h.rotateSCIMToken)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/scim", id: "disableSCIM", tag: tag,
		summary: "Turn off SCIM; members stay", permission: connectors.PermOwn,
	}, h.disableSCIM)
}

func (h *Handler) getSCIM(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[scimJSON], error) {
	s, err := h.scim.Settings(ctx, actor)
	if fault.Is(err, fault.NotFound) {
		return &response[scimJSON]{Body: scimJSON{URL: h.scim.URL()}}, nil
	}
	if err != nil {
		return nil, err
	}
	return h.viewSCIM(s, ""), nil
}

func (h *Handler) enableSCIM(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[scimJSON], error) {
	s, token, err := h.scim.Enable(ctx, actor)
	if err != nil {
		return nil, err
	}
	return h.viewSCIM(s, token), nil
}

func (h *Handler) rotateSCIMToken(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[scimJSON], error) {
	s, token, err := h.scim.RotateToken(ctx, actor)
	if err != nil {
		return nil, err
	}
	return h.viewSCIM(s, token), nil
}

func (h *Handler) disableSCIM(ctx context.Context, actor auth.Actor, _ *struct{}) (*noContent, error) {
	return nil, h.scim.Disable(ctx, actor)
}
