package gateway

import (
	"context"
	"encoding/json"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/jws"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// backend serves one request of an agent at one address. It implements [serve.Backend].
type backend struct {
	h             *Handler
	view          *agentview.View
	connector     *agentview.ConnectorView // at a connector's own address; nil: all granted connectors
	connectorSlug string                   // of reach
	token         *agentview.Token
	origin        connectors.CallOrigin
	wait          store.WaitBudget
	proof         *jws.Proof // of a bound token; nil: the token is plain
}

var (
	_ serve.Backend          = (*backend)(nil)
	_ serve.DeliveryObserver = (*backend)(nil)
)

// Prepared returns a rendered list page; nil leaves the request to Serve, which reports an invalid cursor.
func (b *backend) CachedResult(method, cursor string, p *serve.Client) []byte {
	kind, ok := listKind(method)
	switch {
	case !ok:
		return nil
	case b.connector != nil:
		return b.connector.ListPage(kind, p.Modern, cursor)
	default:
		return b.view.ListPage(kind, p.Modern, cursor)
	}
}

func listKind(method string) (agentview.Kind, bool) {
	switch method {
	case "tools/list":
		return agentview.Tools, true
	case "prompts/list":
		return agentview.Prompts, true
	case "resources/list":
		return agentview.Resources, true
	case "resources/templates/list":
		return agentview.Templates, true
	}
	return 0, false
}

func (b *backend) Serve(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	ctx, span := tracing.Message(ctx, "mcp", r.Meta)
	if !span.On() {
		return b.handleRequest(ctx, r)
	}
	defer span.End()
	b.describeSpan(span, r)
	raw, err := b.handleRequest(ctx, r)
	failSpan(span, err)
	return raw, err
}

func (b *backend) handleRequest(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	switch r.Method {
	case "tools/call":
		return b.callTool(ctx, r)
	case "prompts/get":
		return b.getPrompt(ctx, r)
	case "resources/read":
		return b.readResource(ctx, r)
	case "skills/list", "skills/get", "resources/directory/read":
		return b.serveSkills(ctx, r)
	case "completion/complete":
		return b.completeArgument(ctx, r)
	case "resources/subscribe", "resources/unsubscribe":
		return b.updateSubscription(ctx, r)
	case "tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list":
		return b.handleTask(ctx, r)
	}
	if _, ok := listKind(r.Method); ok {
		return nil, serve.InvalidParams("The cursor is invalid. List from the start.")
	}
	return b.sendMethod(ctx, r)
}
