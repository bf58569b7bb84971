package gateway

import (
	"bytes"
	"context"
	"encoding/json"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// callTool serves tools/call. The result is the upstream's, byte for byte but for URIs of UI resources and files of skills, or as the
// grant shortens it, or explains a refusal. From serveLeanTool on, nothing knows whether the client called the tool by its name.
func (b *backend) callTool(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	result, isLean, err := b.serveLeanTool(ctx, r)
	if result != nil || err != nil {
		return result, err
	}
	tool := b.findTool(r.Name)
	if tool == nil && r.Name != "" && r.Name == b.resultReader() {
		return b.readAnswer(ctx, r)
	}
	if tool == nil && !isLean { // a name in a call of a lean list is the model's
		if tool, err = b.findAppTool(ctx, r.Name); err != nil {
			return nil, err
		}
	}
	if tool == nil {
		return nil, b.newUnknownToolError(r.Name)
	}
	if err := b.checkAppsOnly(ctx, tool); err != nil {
		return nil, err
	}
	if r.Peer.Modern && !isLean && b.mirrorsParams(tool, r.Header) { // the headers mirror the parameters of the tool that the client named
		if mismatch := mcp.ParamMismatch(tool.InputSchema, r.Arguments, r.Header); mismatch != "" {
			return nil, serve.HeaderMismatch(mismatch)
		}
	}
	if a := bytes.TrimSpace(r.Arguments); len(a) > 0 && a[0] != '{' {
		return nil, serve.InvalidParams("The arguments must be an object.")
	}
	request := toolcall.CallRequest{
		View:           b.view,
		Tool:           tool,
		Arguments:      r.Arguments,
		ArgumentsValid: true,
		Meta:           r.Meta,
		Source:         connectors.SourceGateway,
		Token:          &b.token.ID,
		Origin:         b.origin,
		Client:         b.newClient(r),
		AllowPooled:    true,
	}
	if r.Peer.Modern && r.IsResumed {
		request.Input = parseInput(r.Params)
	}
	if err := readTask(r, tool, &request); err != nil {
		return nil, err
	}
	outcome, err := b.h.caller.Call(ctx, request)
	describeCall(ctx, tool, outcome.Call)
	if err != nil && request.HandshakeTasks { // its result would be a task
		return nil, newTaskError(err, b.pageFor(ctx, tool.Connector))
	}
	if err != nil {
		return newRefusalResult(err, b.pageFor(ctx, tool.Connector))
	}
	if !outcome.IsError && !outcome.Task && !outcome.InputRequired {
		b.view.LearnFromCall(tool)
	}
	r.CallID = outcome.CallID.UUID
	if lent := outcome.PooledResult(); lent != nil {
		r.AfterReply(lent.Release)
	}
	return b.exposeApps(tool.Connector, b.shapeAnswer(ctx, r, tool, &outcome), toolResult), nil
}

// pageFor returns a function for the URL where a signed-in person connects the agent's account, or asks for its access.
func (b *backend) pageFor(ctx context.Context, connector *agentview.ConnectorView) pageFinder {
	return func(r *toolcall.RefusalError) string {
		if r.ConnectURL == "" || b.h.accountPageURL == nil {
			return b.askURL(r)
		}
		return b.h.accountPageURL(ctx, b.view.Tenant.ID, connector.Connector, b.view.Agent, connector.Grant.Account())
	}
}

// ResponseUndelivered records that a response was not delivered to the agent.
func (b *backend) ResponseUndelivered(r *serve.Request) {
	if id := (connectors.ToolCallID{UUID: r.CallID}); id != (connectors.ToolCallID{}) {
		b.h.caller.MarkUndelivered(b.view.Tenant.ID, id)
	}
}

// findTool returns a tool by its name at this address.
func (b *backend) findTool(name string) *agentview.Tool {
	if b.connector != nil {
		return b.connector.ConnectorName(name)
	}
	return b.view.Tool(name)
}

// newClient describes the request's client: its capabilities, and how to send it notifications meanwhile.
func (b *backend) newClient(r *serve.Request) toolcall.Client {
	b.wait.Bytes = len(r.Params)
	c := toolcall.Client{
		Caller:       connectors.CallerAgent(b.view.Agent.ID),
		Wait:         &b.wait,
		Capabilities: r.Peer.Capabilities,
		MultiRound:   r.Peer.Modern,
		Task:         r.Peer.Modern && r.Peer.Can("tasks"),
		LogLevel:     r.LogLevel(),
		Message:      func(method string, params json.RawMessage) { _ = r.Notify(method, params) },
	}
	if token := r.ProgressToken(); token != nil {
		c.Progress = func(params json.RawMessage) { _ = r.Notify("notifications/progress", withProgressToken(params, token)) }
	}
	if c.LogLevel != "" && r.Peer.Session != "" {
		c.BetweenCalls, c.SessionKey = b.newSessionLogger(r.Peer.Session).sendMessage, r.Peer.Session
	}
	if hasHandshakeTasks(r.Peer) {
		c.StatusSession = r.Peer.Session
	}
	if !r.Peer.Modern && r.Peer.Session != "" {
		c.SendRequest = func(ctx context.Context, in mcp.InputRequest) (json.RawMessage, error) {
			if in.OnSharedStream {
				return r.SendRequestToListener(ctx, in.Method, in.Params)
			}
			return r.SendRequest(ctx, in.Method, in.Params)
		}
		if supportsURLElicitation(r.Peer) {
			c.Session = r.Peer.Session
		}
	}
	return c
}

// withProgressToken returns the params of a progress notification with the client's own token.
func withProgressToken(params, token json.RawMessage) json.RawMessage {
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

// parseInput reads requestState and inputResponses; nil: the request starts a call.
func parseInput(params json.RawMessage) *mcp.Input {
	var sent struct {
		State     json.RawMessage `json:"requestState"`
		Responses json.RawMessage `json:"inputResponses"`
	}
	if json.Unmarshal(params, &sent) != nil {
		return nil
	}
	in := mcp.Input{State: nonNullJSON(sent.State), Responses: nonNullJSON(sent.Responses)}
	if in.State == nil && in.Responses == nil {
		return nil
	}
	return &in
}

// nonNullJSON returns nil for a missing or null value.
func nonNullJSON(value json.RawMessage) json.RawMessage {
	if string(value) == "null" {
		return nil
	}
	return value
}

// truncateName shortens a name for an error message.
func truncateName(name string) string {
	const maxLength = 128
	if len(name) <= maxLength {
		return name
	}
	return name[:maxLength] + "…"
}
