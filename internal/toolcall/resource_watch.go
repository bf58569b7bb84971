package toolcall

import (
	"context"
	"encoding/json"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
)

// maxWatches bounds an agent's resource streams in this process. Each is one stream with a server.
const maxWatches = 200

// WatchResources calls onNotify with the params of resource notifications, by the server's own URIs, until ctx
// ends (nil) or the server ends the stream. It is not recorded and not rate-limited.
func (c *Executor) WatchResources(
	ctx context.Context, v *agentview.View, connector *agentview.ConnectorView, uris []string, onNotify func(params json.RawMessage),
) error {
	if !c.sender.watches.TryAcquire(v.Agent.ID) {
		return tooManyCallsRefusal()
	}
	defer c.sender.watches.Release(v.Agent.ID)
	var credential *credentials.Credential
	client := Client{Caller: connectors.CallerAgent(v.Agent.ID)}
	err := c.sender.withSession(ctx, c.sender.newSessionRequest(v, connector, client, false), &credential, func(s *mcp.Session) error {
		return s.Watch(ctx, uris, func(m mcp.Message) { onNotify(m.Params) })
	})
	if err != nil && ctx.Err() == nil {
		return c.explainer.explainError(ctx, v, connector, err)
	}
	return nil
}
