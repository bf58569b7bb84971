package gateway

import (
	"bytes"
	"context"
	"encoding/json"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// sendMethod serves a request outside MCP. The address of all connectors has none: the connector would be ambiguous.
func (b *backend) sendMethod(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if !b.allowsMethod(r.Method) || connectors.IsNotification(r.Method) {
		return nil, serve.MethodNotFound(r.Method)
	}
	return b.queryUpstream(ctx, r, b.connector, connectors.CallMethod, r.Method, nil)
}

func (b *backend) allowsMethod(method string) bool {
	return b.connector != nil && b.connector.Connector.AllowsMethod(method)
}

// HandleNotification relays a notification outside MCP, and ignores others: they concern no upstream server. The client
// learns of no failure, because a notification has no response; the history does.
func (b *backend) HandleNotification(ctx context.Context, _ *serve.Client, method string, params json.RawMessage) {
	if !b.allowsMethod(method) {
		return
	}
	b.wait.Bytes = len(params)
	_, _ = b.h.caller.SendRequest(ctx, toolcall.UpstreamRequest{
		View: b.view, Connector: b.connector, Kind: connectors.CallMethod, Name: method, Method: method, Notify: true, Params: bytes.Clone(params),
		Source: connectors.SourceGateway, Token: &b.token.ID, Origin: b.origin,
		Client: toolcall.Client{Caller: connectors.CallerAgent(b.view.Agent.ID), Wait: &b.wait},
	})
}
