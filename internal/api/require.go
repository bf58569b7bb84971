package api

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// require refuses a caller before anything of the request is looked at, but for whose agent it names.
func (h *Handler) require(may, own connectors.Permission) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humachi.Unwrap(ctx)
		who, ok := auth.ActorFrom(ctx.Context())
		if !ok {
			h.respond.Problem(w, r, errNobody)
			return
		}
		err := who.Require(may)
		if err != nil && own != "" && who.UserID != nil && who.Role.May(own) {
			err = h.requireOwner(ctx, who, err)
		}
		if err != nil {
			h.respond.Problem(w, r, err)
			return
		}
		next(ctx)
	}
}

// requireOwner refuses whoever does not own the agent that a request names, as if they had named none: an agent that there is not is no more
// than one of somebody else.
func (h *Handler) requireOwner(ctx huma.Context, who auth.Actor, refused error) error {
	r, _ := humachi.Unwrap(ctx)
	named, err := agentNamed(ctx, r)
	if err != nil || named == "" {
		return refused
	}
	own, err := h.owns(ctx.Context(), who, named)
	if err != nil || own {
		return err
	}
	return refused
}

func (h *Handler) owns(ctx context.Context, who auth.Actor, named connectors.Ref) (bool, error) {
	tenant := h.store.Tenant(who.Tenant.ID)
	a, err := tenant.Agent(ctx, named)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return tenant.IsPersonalAgent(ctx, *who.UserID, a.ID)
}

// agentNamed is the agent of a request's path or, where its path names none, of its document, which is put back to be read. It is read as the
// handler reads it: what it does is what was let in.
func agentNamed(ctx huma.Context, r *http.Request) (connectors.Ref, error) {
	if named := ctx.Param("agent"); named != "" {
		return connectors.Ref(named), nil
	}
	if body, _ := ctx.Operation().Metadata[bodyKey].(bodySchema); body.schema == nil {
		return connectors.Ref(ctx.Param("id")), nil
	}
	raw, err := readBody(r.Body)
	if err != nil {
		return "", err
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	doc, err := parse(raw)
	if err != nil {
		return "", err
	}
	fields, _ := doc.(map[string]any)
	named, _ := fields["agent"].(string)
	return connectors.Ref(named), nil
}
