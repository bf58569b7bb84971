package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// callWait is how long a request waits for the result of its call.
const callWait = 30 * time.Second

// toolCallCreate is a new call.
type toolCallCreate struct {
	Tool      string                     `json:"tool" doc:"The exposed name."`
	Arguments map[string]json.RawMessage `json:"arguments,omitempty" doc:"Arguments that match the tool's input schema."`
	TimeoutMS int                        `json:"timeout_ms,omitempty" minimum:"0" maximum:"300000" doc:"Time limit for the server, at most the connector's timeout_ms. 0: that. Approved calls always use the connector's."`
}

// rawArguments returns the arguments as one document.
func (c toolCallCreate) rawArguments() (json.RawMessage, error) {
	if c.Arguments == nil {
		return json.RawMessage(`{}`), nil
	}
	return encodeRaw(c.Arguments)
}

// encodeRaw encodes a value without escaping HTML characters, so that raw JSON in it keeps its spelling.
func encodeRaw(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

type callToolInput struct {
	AgentPath
	ResultFormat
	JSON requestBody[toolCallCreate]
}

// CallFilter is the query of a list of calls.
type CallFilter struct {
	Connector string `query:"connector" doc:"The connector's id or slug."`
	Status    string `query:"status" enum:"pending_approval,running,success,error,denied,cancelled" doc:"Only calls with this status."`
	Tool      string `query:"tool" doc:"The tool's exposed name or the server's name."`
	Task      bool   `query:"task" doc:"true: only calls that run as tasks at their servers, without arguments and content."`
	Paging
}

type listAgentCallsInput struct {
	AgentPath
	CallFilter
}

type listCallsInput struct {
	Agent string `query:"agent" doc:"The agent's id or slug."`
	CallFilter
}

type getCallInput struct {
	ToolCallPath
	ResultFormat
}

// ToolCallPath is the path of a call.
type ToolCallPath struct {
	ID string `path:"id" doc:"A tool call's id."`
}

func (p ToolCallPath) callID() (connectors.ToolCallID, error) {
	id, ok := connectors.Ref(p.ID).UUID()
	if !ok {
		return connectors.ToolCallID{}, fault.Errorf(fault.NotFound, "No such tool call.")
	}
	return connectors.ToolCallID{UUID: id}, nil
}

const aboutCallTool = `Calls a tool with the agent's grants, limits and accounts. Returns the call once it has ended, whatever the outcome. A
refusal has status error and its code in error; over quota is 429. If the call needs approval or takes longer than 30 seconds, returns its current state; it goes on, so read it again later.
format adds the result in a model provider's format.`

const aboutReadCall = `If the tenant's body_readers is auditors, only auditors get arguments and results, one call at a time, each read audited as
tool_call.read. Others, and all lists, get the call without them: see bodies.`

func (h *Handler) mountToolCalls() {
	const tag = "Tool calls"
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/agents/{id}/tool_calls", id: "callTool", tag: tag,
		summary: "Call a tool as an agent", description: aboutCallTool, permission: connectors.PermOperate, status: http.StatusCreated,
	}, h.callTool)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/agents/{id}/tool_calls/batch", id: "callTools", tag: tag,
		summary: "Call several tools at once", description: aboutCallTools, permission: connectors.PermOperate, status: http.StatusOK,
	}, h.callTools)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/tool_calls", id: "listAgentToolCalls", tag: tag,
		summary: "List an agent's calls, newest first", permission: connectors.PermRead,
	}, h.listAgentCalls)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/tool_calls", id: "listToolCalls", tag: tag,
		summary: "List all agents' calls, newest first", permission: connectors.PermRead,
	}, h.listCalls)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/tool_calls/{id}", id: "getToolCall", tag: tag,
		summary: "Get a call", description: aboutReadCall, permission: connectors.PermRead,
	}, h.getCall)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/tool_calls/{id}/cancel", id: "cancelToolCall", tag: tag,
		summary: "Cancel a waiting or running call", permission: connectors.PermOperate, status: http.StatusOK,
	}, h.cancelCall)
}

func (h *Handler) callTool(ctx context.Context, actor auth.Actor, in *callToolInput) (*response[toolCallJSON], error) {
	view, err := h.findUsableAgent(ctx, actor, in.ref())
	if err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	call, err := h.runCall(ctx, actor, view, doc)
	if err != nil {
		return nil, err
	}
	return newCallResponse(call, in.ResultFormat), nil
}

// findUsableAgent returns the view of an agent that the actor may call tools as.
func (h *Handler) findUsableAgent(ctx context.Context, actor auth.Actor, agent connectors.Ref) (*agentview.View, error) {
	view, err := h.access.ByAgent(ctx, actor.Tenant.ID, agent)
	if err != nil {
		return nil, err
	}
	return view, actor.RequireUse(ctx, h.store.Tenant(actor.Tenant.ID).Accounts(), view.Agent.ID)
}

// runCall makes one call and waits up to callWait.
func (h *Handler) runCall(ctx context.Context, actor auth.Actor, view *agentview.View, doc toolCallCreate) (connectors.ToolCall, error) {
	request, err := newOrder(actor, view, doc)
	if err != nil {
		return connectors.ToolCall{}, err
	}
	call, err := h.calls.Run(ctx, request, callWait)
	if bad, ok := errors.AsType[*toolcall.InvalidArgumentsError](err); ok {
		err = fault.InvalidFields(fault.Field{Location: "arguments", Message: bad.Sentence})
	}
	return call, err
}

func newCallResponse(call connectors.ToolCall, format ResultFormat) *response[toolCallJSON] {
	body := viewToolCall(call)
	format.addFormatted(&body, call)
	return &response[toolCallJSON]{Body: body}
}

func newOrder(actor auth.Actor, view *agentview.View, doc toolCallCreate) (toolcall.CallRequest, error) {
	tool := view.Tool(doc.Tool)
	if tool == nil {
		return toolcall.CallRequest{}, fault.InvalidFields(fault.Field{Location: "tool", Message: "The agent has no tool with this name."})
	}
	arguments, err := doc.rawArguments()
	if err != nil {
		return toolcall.CallRequest{}, err
	}
	return toolcall.CallRequest{View: view, Tool: tool, Arguments: arguments, Source: connectors.SourceAPI, ActorName: actor.Name, Origin: actor.CallOrigin(), Timeout: time.Duration(doc.TimeoutMS) * time.Millisecond, Client: toolcall.Client{Caller: actor.Caller()}}, nil
}

func (h *Handler) listAgentCalls(ctx context.Context, actor auth.Actor, in *listAgentCallsInput) (*response[list[toolCallJSON]], error) {
	return h.listCallsOf(ctx, actor, in.ref(), in.CallFilter)
}

func (h *Handler) listCalls(ctx context.Context, actor auth.Actor, in *listCallsInput) (*response[list[toolCallJSON]], error) {
	return h.listCallsOf(ctx, actor, connectors.Ref(in.Agent), in.CallFilter)
}

// listCallsOf lists an agent's calls; an empty agent means all.
func (h *Handler) listCallsOf(ctx context.Context, actor auth.Actor, agent connectors.Ref, in CallFilter) (*response[list[toolCallJSON]], error) {
	var page store.List[connectors.ToolCall]
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		page, err = h.findCalls(ctx, tx, actor, agent, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewToolCall), nil
}

func (h *Handler) findCalls(ctx context.Context, tenant *store.Tenant, actor auth.Actor, agent connectors.Ref, in CallFilter) (store.List[connectors.ToolCall], error) {
	filter := store.CallFilter{Status: connectors.CallStatus(in.Status), Tool: in.Tool, Page: in.toPage()}
	if agent != "" {
		a, err := tenant.Agents().Get(ctx, agent)
		if err != nil {
			return store.List[connectors.ToolCall]{}, err
		}
		filter.Agent = &a.ID
	}
	if in.Connector != "" {
		c, err := tenant.Connectors().Get(ctx, connectors.Ref(in.Connector))
		if err != nil {
			return store.List[connectors.ToolCall]{}, err
		}
		filter.Connector = &c.ID
	}
	if in.Task {
		return h.calls.TasksIn(ctx, tenant, actor, filter)
	}
	return h.calls.CallsIn(ctx, tenant, actor, filter)
}

func (h *Handler) getCall(ctx context.Context, actor auth.Actor, in *getCallInput) (*response[toolCallJSON], error) {
	id, err := in.callID()
	if err != nil {
		return nil, err
	}
	call, err := h.calls.Read(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	return newCallResponse(call, in.ResultFormat), nil
}

func (h *Handler) cancelCall(ctx context.Context, actor auth.Actor, in *ToolCallPath) (*response[toolCallJSON], error) {
	id, err := h.requireCallExists(ctx, actor, *in)
	if err != nil {
		return nil, err
	}
	call, err := h.calls.Cancel(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	return &response[toolCallJSON]{Body: viewToolCall(call)}, nil
}

// requireCallExists returns the call's id, or NotFound before the body is read.
func (h *Handler) requireCallExists(ctx context.Context, actor auth.Actor, in ToolCallPath) (connectors.ToolCallID, error) {
	id, err := in.callID()
	if err != nil {
		return id, err
	}
	_, err = h.calls.ReadSummary(ctx, actor, id)
	return id, err
}
