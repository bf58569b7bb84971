package api

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

// methodRequest is a request or notification outside MCP.
type methodRequest struct {
	Method string                     `json:"method" doc:"A method that the connector allows."`
	Params map[string]json.RawMessage `json:"params,omitempty"`
	Notify bool                       `json:"notify,omitempty" doc:"true: send a notification, which has no result. Methods starting with notifications/ always are."`
	Agent  *string                    `json:"agent,omitempty" doc:"The agent, by id or slug, whose credential to use. Required if each agent has its own."`
}

type sendMethodInput struct {
	ConnectorPath
	JSON requestBody[methodRequest]
}

// methodResultJSON is the server's answer. A failing server is a result too.
type methodResultJSON struct {
	CallID   string             `json:"call_id" format:"uuid" doc:"The id in the call history."`
	Result   json.RawMessage    `json:"result" doc:"As the server sent it. Null for an error or a notification."`
	Error    *methodFailureJSON `json:"error"`
	Upstream *upstreamSaidJSON  `json:"upstream" doc:"The server's response if it failed. Null if none."`
}

type methodFailureJSON struct {
	Code    string `json:"code" doc:"As in a tool call's error."`
	Message string `json:"message"`
	RPCCode *int   `json:"rpc_code" doc:"The server's JSON-RPC error code. Null if none."`
}

// TransformSchema implements huma.SchemaTransformer.
func (methodResultJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "error", "upstream")
}

const aboutSendMethod = `Sends a request or notification that MCP does not define, if the connector allows the method. Needs no agent or grant, counts toward calls_per_minute,
and is in the call history with kind method. 200 even if the server fails.`

func (h *Handler) sendMethod(ctx context.Context, actor auth.Actor, in *sendMethodInput) (*response[methodResultJSON], error) {
	connector, err := h.store.Tenant(actor.Tenant.ID).Connectors().Get(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	m := toolcall.MethodRequest{Method: doc.Method, Notify: doc.Notify, Source: connectors.SourceAPI}
	if doc.Agent != nil {
		m.Agent = connectors.Ref(*doc.Agent)
	}
	if doc.Params != nil {
		if m.Params, err = encodeRaw(doc.Params); err != nil {
			return nil, err
		}
	}
	raw, call, err := h.calls.SendMethod(ctx, actor, connector, m)
	if call.ID == (connectors.ToolCallID{}) && err != nil {
		return nil, err
	}
	return &response[methodResultJSON]{Body: viewMethodResult(raw, call, err)}, nil
}

func viewMethodResult(raw json.RawMessage, call connectors.ToolCall, err error) methodResultJSON {
	out := methodResultJSON{CallID: call.ID.String(), Result: raw, Upstream: viewUpstreamSaid(call.Upstream)}
	if err == nil {
		return out
	}
	out.Error = &methodFailureJSON{Code: call.ErrorCode, Message: call.ErrorMessage}
	if failure, ok := errors.AsType[*mcp.Error](err); ok && failure.RPC != nil {
		out.Error.RPCCode = &failure.RPC.Code
	}
	return out
}
