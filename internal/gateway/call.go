package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// callTool calls a tool. The result is the server's, byte for byte, or says why there is none.
func (b *backend) callTool(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	tool := b.tool(r.Name)
	if tool == nil {
		return nil, serve.InvalidParams(fmt.Sprintf("There is no tool %q here.", shown(r.Name)))
	}
	if r.Peer.Modern {
		if wrong := mcp.ParamMismatch(tool.InputSchema, r.Arguments, r.Header); wrong != "" {
			return nil, serve.HeaderMismatch(wrong)
		}
	}
	order := toolcall.Order{
		View:      b.view,
		Tool:      tool,
		Arguments: r.Arguments,
		Read:      true,
		Meta:      r.Meta,
		Source:    connectors.SourceGateway,
		Token:     &b.token.ID,
		From:      b.from,
		Client:    b.client(r),
		Lend:      true,
	}
	if r.Peer.Modern && r.Continues {
		order.Input = inputOf(r.Params)
	}
	outcome, err := b.h.caller.Call(ctx, order)
	describeCall(ctx, tool, outcome.Call)
	if err != nil {
		return refused(err, b.pageFor(ctx, tool.Reach.Connector))
	}
	r.Tag = outcome.CallID.UUID
	if lent := outcome.Lent(); lent != nil {
		r.After(lent.Release)
	}
	return outcome.Raw, nil
}

// pageFor is where whoever signs in connects an account of the agent's to a connector.
func (b *backend) pageFor(ctx context.Context, c connectors.Connector) func() string {
	return func() string {
		if b.h.page == nil {
			return ""
		}
		return b.h.page(ctx, b.view.Tenant.ID, c, b.view.Agent)
	}
}

// Lost has the history say that an agent did not get its answer.
func (b *backend) Lost(r *serve.Request) {
	if id := (connectors.ToolCallID{UUID: r.Tag}); id != (connectors.ToolCallID{}) {
		b.h.caller.Undelivered(b.view.Tenant.ID, id)
	}
}

// tool finds a tool by the name that it has at this address.
func (b *backend) tool(name string) *access.Tool {
	if b.reach != nil {
		return b.reach.Called(name)
	}
	return b.view.Tool(name)
}

// client is what the client of a request hears meanwhile, and can do.
func (b *backend) client(r *serve.Request) toolcall.Client {
	b.wait.Bytes = len(r.Params)
	c := toolcall.Client{
		Wait:         &b.wait,
		Capabilities: r.Peer.Capabilities,
		MultiRound:   r.Peer.Modern,
		Task:         r.Peer.Modern && r.Peer.Can("tasks"),
		LogLevel:     r.LogLevel(),
		Message:      func(method string, params json.RawMessage) { _ = r.Notify(method, params) },
	}
	if token := r.ProgressToken(); token != nil {
		c.Progress = func(params json.RawMessage) { _ = r.Notify("notifications/progress", withToken(params, token)) }
	}
	if !r.Peer.Modern && r.Peer.Session != "" {
		c.Ask = r.Ask
		if opensPages(r.Peer) {
			c.Session = r.Peer.Session
		}
	}
	return c
}

// withToken is the params of a progress notification under the client's own token.
func withToken(params, token json.RawMessage) json.RawMessage {
	params = bytes.TrimSpace(params)
	if len(params) < 2 || params[0] != '{' {
		params = []byte("{}")
	}
	with := append([]byte(`{"progressToken":`), token...)
	if rest := bytes.TrimSpace(params[1:]); rest[0] != '}' {
		with = append(with, ',')
	}
	return append(with, params[1:]...)
}

// inputOf reads what a client sends along when it goes on with a call; nil: it begins one.
func inputOf(params json.RawMessage) *mcp.Input {
	var sent struct {
		State     json.RawMessage `json:"requestState"`
		Responses json.RawMessage `json:"inputResponses"`
	}
	if json.Unmarshal(params, &sent) != nil {
		return nil
	}
	in := mcp.Input{State: said(sent.State), Responses: said(sent.Responses)}
	if in.State == nil && in.Responses == nil {
		return nil
	}
	return &in
}

// said is a member's value; nil: there is none, or null.
func said(value json.RawMessage) json.RawMessage {
	if string(value) == "null" {
		return nil
	}
	return value
}

// shown is a name as an error may repeat it: short.
func shown(name string) string {
	const most = 128
	if len(name) <= most {
		return name
	}
	return name[:most] + "…"
}
