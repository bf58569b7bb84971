package gateway

import (
	"context"
	"encoding/json"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// backend is what one request's agent finds at one address.
type backend struct {
	h     *Handler
	view  *access.View
	reach *access.Reach // at a connector's own address; nil: all that the agent was granted
	slug  string        // of reach
	token *access.Token
	from  connectors.CallOrigin // of the request
	wait  store.WaitBudget      // of the request
}

var (
	_ serve.Backend = (*backend)(nil)
	_ serve.Witness = (*backend)(nil)
)

// Prepared is a list, ready to be sent; a cursor of another list is Serve's to refuse.
func (b *backend) Prepared(method, cursor string, p *serve.Peer) []byte {
	kind, ok := listOf(method)
	switch {
	case !ok:
		return nil
	case b.reach != nil:
		return b.reach.ListPage(kind, p.Modern, cursor)
	default:
		return b.view.ListPage(kind, p.Modern, cursor)
	}
}

func listOf(method string) (access.Kind, bool) {
	switch method {
	case "tools/list":
		return access.Tools, true
	case "prompts/list":
		return access.Prompts, true
	case "resources/list":
		return access.Resources, true
	case "resources/templates/list":
		return access.Templates, true
	}
	return 0, false
}

// Serve answers one request.
func (b *backend) Serve(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	ctx, span := tracing.Message(ctx, "mcp", r.Meta)
	if !span.On() {
		return b.answer(ctx, r)
	}
	defer span.End()
	b.describeSpan(span, r)
	raw, err := b.answer(ctx, r)
	failedSpan(span, err)
	return raw, err
}

func (b *backend) answer(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	switch r.Method {
	case "tools/call":
		return b.callTool(ctx, r)
	case "prompts/get":
		return b.prompt(ctx, r)
	case "resources/read":
		return b.resource(ctx, r)
	case "completion/complete":
		return b.complete(ctx, r)
	case "resources/subscribe", "resources/unsubscribe":
		return b.subscribe(ctx, r)
	case "tasks/get", "tasks/update", "tasks/cancel", "tasks/result":
		return b.task(ctx, r)
	}
	if _, ok := listOf(r.Method); ok {
		return nil, serve.InvalidParams("The cursor is none of this list, as it is now. Read the list from its beginning.")
	}
	return nil, serve.MethodNotFound(r.Method)
}

// Notified takes nothing: what a client says by itself means nothing to a server behind us.
func (*backend) Notified(context.Context, *serve.Peer, string, json.RawMessage) {}
