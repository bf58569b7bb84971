package toolcall

import (
	"context"
	"encoding/json"

	"patchbay/internal/apiserver"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// APITrial is a call of a tool of an HTTP API that is not stored, for an admin.
type APITrial struct {
	Tool      string
	Binding   json.RawMessage
	Arguments json.RawMessage // an object
	Agent     connectors.Ref  // owner of the credential; empty: the shared one
	Source    connectors.CallSource
}

// TryAPITool calls a tool that is not stored under the connector's limits, and records it. It needs no grant. The result is that
// of tools/call. The record's id is zero if nothing was sent.
func (c *Executor) TryAPITool(ctx context.Context, actor auth.Actor, connector connectors.Connector, t APITrial) (json.RawMessage, connectors.ToolCall, error) {
	if err := actor.Require(connectors.PermManage); err != nil {
		return nil, connectors.ToolCall{}, err
	}
	if connector.Transport != connectors.TransportAPI {
		return nil, connectors.ToolCall{}, fault.Errorf(fault.Invalid, "%s is an MCP server. It has no endpoints.", connector.Name)
	}
	view, target, err := c.newAdminView(ctx, actor, connector, t.Agent)
	if err != nil {
		return nil, connectors.ToolCall{}, err
	}
	params, err := json.Marshal(map[string]json.RawMessage{
		"name": quoteJSON(t.Tool), "arguments": t.Arguments, "_meta": apiserver.CallMeta(t.Binding),
	})
	if err != nil {
		return nil, connectors.ToolCall{}, err
	}
	raw, record, err := c.requests.sendRecorded(ctx, UpstreamRequest{
		View: view, Connector: target, account: target.Account, Kind: connectors.CallMethod, Name: t.Tool, Method: "tools/call", Params: params,
		Source: t.Source, ActorName: actor.Name, Origin: actor.CallOrigin(), isByAdmin: true, Client: Client{Caller: actor.Caller()},
	})
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	c.o.History.Flush(ctx)
	return raw, record, err
}

func quoteJSON(text string) json.RawMessage {
	quoted, _ := json.Marshal(text) // a string always marshals
	return quoted
}
