package gateway

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/tracing"
)

// tracedMethods are the methods used as span names. A client may invent others.
var tracedMethods = []string{
	"tools/call", "tools/list", "prompts/get", "prompts/list", "resources/read", "resources/list", "resources/templates/list", "resources/subscribe",
	"resources/unsubscribe", "completion/complete", "tasks/get", "tasks/update", "tasks/cancel", "tasks/result",
}

// describeSpan sets the caller and the method.
func (b *backend) describeSpan(span tracing.Span, r *serve.Request) {
	if slices.Contains(tracedMethods, r.Method) {
		span.Name(r.Method)
		span.Text(tracing.MCPMethod, r.Method)
	}
	span.Text(tracing.MCPVersion, r.Peer.Version)
	span.Text(tracing.Transport, "tcp")
	span.Text(tracing.Tenant, b.view.Tenant.ID.String())
	span.Text(tracing.AgentID, b.view.Agent.ID.String())
	span.Text(tracing.AgentName, b.view.Agent.Slug)
	if b.connector != nil {
		span.Text(tracing.Connector, b.connector.Connector.Slug)
	}
}

// describeCall sets the tool and the outcome on ctx's span.
func describeCall(ctx context.Context, tool *agentview.Tool, c connectors.ToolCall) {
	span := tracing.Here(ctx)
	if !span.On() {
		return
	}
	span.Name("tools/call " + tool.Exposed)
	span.Text(tracing.Operation, tracing.ExecutesTool)
	span.Text(tracing.ToolName, tool.Exposed)
	span.Text(tracing.Connector, tool.Connector.Connector.Slug)
	span.Text(tracing.Call, c.ID.String())
	span.Text(tracing.Outcome, string(c.Outcome))
	switch c.Outcome {
	case "", connectors.OutcomeOK:
	case connectors.OutcomeToolError:
		span.Fail(tracing.ToolSaysFailed)
	default:
		span.Fail(c.ErrorCode)
	}
}

// failSpan sets the code of the error that the client gets.
func failSpan(span tracing.Span, err error) {
	if refused, ok := errors.AsType[*serve.RPCError](err); ok {
		span.Text(tracing.RPCStatus, strconv.Itoa(refused.Code))
		span.Fail(strconv.Itoa(refused.Code))
	} else if err != nil {
		span.Fail("internal")
	}
}
