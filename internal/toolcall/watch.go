package toolcall

import (
	"context"
	"encoding/json"

	"patchbay/internal/access"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
)

// mostWatching bounds the streams on which one agent hears of resources, of all its listeners in this process: each is one with a server.
const mostWatching = 200

// WatchResources hears of changes of resources of a connector's server, by its own URIs, until ctx ends (nil) or the server ends it. hear
// takes the params of a notification. It is no call: it stands in no history, and counts against no limit.
func (c *Caller) WatchResources(
	ctx context.Context, v *access.View, r *access.Reach, uris []string, hear func(params json.RawMessage),
) error {
	if !c.watching.enter(v.Agent.ID, mostWatching) {
		return tooMany()
	}
	defer c.watching.leave(v.Agent.ID)
	var sent *credentials.Usable
	err := c.insist(ctx, wantOf(v, r, Client{}), &sent, func(s *mcp.Session) error {
		return s.Watch(ctx, uris, func(m mcp.Message) { hear(m.Params) })
	})
	if err != nil && ctx.Err() == nil {
		return c.explain(ctx, v, r, err)
	}
	return nil
}
