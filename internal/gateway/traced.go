package gateway

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/tracing"
)

// traced are the methods that a span is named after: a client may invent others.
var traced = []string{
	"tools/call", "tools/list", "prompts/get", "prompts/list", "resources/read", "resources/list", "resources/templates/list", "resources/subscribe",
	"resources/unsubscribe", "completion/complete", "tasks/get", "tasks/update", "tasks/cancel", "tasks/result",
}

// describeSpan says who asks for what.
func (b *backend) describeSpan(span tracing.Span, r *serve.Request) {
	if slices.Contains(traced, r.Method) {
		span.Name(r.Method)
		span.Text(tracing.MCPMethod, r.Method)
	}
	span.Text(tracing.MCPVersion, r.Peer.Version)
	span.Text(tracing.Transport, "tcp")
	span.Text(tracing.Tenant, b.view.Tenant.ID.String())
	span.Text(tracing.AgentID, b.view.Agent.ID.String())
	span.Text(tracing.AgentName, b.view.Agent.Slug)
	if b.reach != nil {
		span.Text(tracing.Connector, b.reach.Connector.Slug)
	}
}

// describeCall says of the span that ctx belongs to which tool was called, and what came of it.
func describeCall(ctx context.Context, tool *access.Tool, c connectors.ToolCall) {
	span := tracing.Here(ctx)
	if !span.On() {
		return
	}
	span.Name("tools/call " + tool.Exposed)
	span.Text(tracing.Operation, tracing.ExecutesTool)
	span.Text(tracing.ToolName, tool.Exposed)
	span.Text(tracing.Connector, tool.Reach.Connector.Slug)
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

// failedSpan says that a request was refused, by the code of the error that its client gets.
func failedSpan(span tracing.Span, err error) {
	if refused, ok := errors.AsType[*serve.RPCError](err); ok {
		span.Text(tracing.RPCStatus, strconv.Itoa(refused.Code))
		span.Fail(strconv.Itoa(refused.Code))
	} else if err != nil {
		span.Fail("internal")
	}
}
