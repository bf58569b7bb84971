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
	"patchbay/internal/store"
)

// requirePermission refuses a caller before the request is read, except for the owner of the agent it names.
func (h *Handler) requirePermission(may, own connectors.Permission) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humachi.Unwrap(ctx)
		actor, ok := auth.ActorFrom(ctx.Context())
		if !ok {
			h.respond.Problem(w, r, errNoCaller)
			return
		}
		err := actor.Require(may)
		if err != nil && own != "" && actor.UserID != nil && actor.Role.May(own) {
			err = h.requireOwner(ctx, actor, err)
		}
		if err != nil {
			h.respond.Problem(w, r, err)
			return
		}
		next(ctx)
	}
}

// requireOwner returns refused unless the caller owns the agent that the request names. A missing agent is
// refused like another member's.
func (h *Handler) requireOwner(ctx huma.Context, actor auth.Actor, refused error) error {
	r, _ := humachi.Unwrap(ctx)
	named, err := agentNamed(ctx, r)
	if err != nil || named == "" {
		return refused
	}
	own, err := h.ownsAgent(ctx.Context(), actor, named)
	if err != nil || own {
		return err
	}
	return refused
}

func (h *Handler) ownsAgent(ctx context.Context, actor auth.Actor, named connectors.Ref) (owns bool, err error) {
	err = h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		a, err := tx.Agents().Get(ctx, named)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		owns, err = tx.Agents().IsPersonalAgent(ctx, *actor.UserID, a.ID)
		return err
	})
	return owns, err
}

// agentNamed is the agent in the request's path, or else in its body, which is put back. It is parsed as the
// handler parses it, so that both see the same agent.
func agentNamed(ctx huma.Context, r *http.Request) (connectors.Ref, error) {
	if named := ctx.Param("agent"); named != "" {
		return connectors.Ref(named), nil
	}
	if body, _ := ctx.Operation().Metadata[bodyKey].(bodySchema); body.schema == nil {
		return connectors.Ref(ctx.Param("id")), nil
	}
	raw, err := readBody(r.Body, maxBody)
	if err != nil {
		return "", err
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	doc, err := parseJSON(raw)
	if err != nil {
		return "", err
	}
	fields, _ := doc.(map[string]any)
	named, _ := fields["agent"].(string)
	return connectors.Ref(named), nil
}
