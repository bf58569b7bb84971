package toolcall

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/tracing"
)

func (a *activeCall) sendTraced(ctx context.Context, s *mcp.Session, call mcp.Call) (*mcp.Result, error) {
	ctx, span := tracing.Client(ctx, "tools/call")
	if !span.On() {
		return s.Call(ctx, call)
	}
	defer span.End()
	span.Name("tools/call " + call.Name)
	span.Text(tracing.Operation, tracing.ExecutesTool)
	span.Text(tracing.ToolName, call.Name)
	describeRequest(span, "tools/call", a.connector.Connector, s)
	result, err := s.Call(ctx, call)
	if err == nil && result.IsError {
		span.Fail(tracing.ToolSaysFailed)
	}
	failSpan(span, err)
	return result, err
}

func (q *UpstreamRequest) sendTraced(ctx context.Context, s *mcp.Session, query mcp.OtherRequest) ([]byte, error) {
	ctx, span := tracing.Client(ctx, q.Method)
	if !span.On() {
		return s.Send(ctx, query)
	}
	defer span.End()
	if q.Kind == connectors.CallPrompt {
		span.Text(tracing.PromptName, q.Name)
	}
	describeRequest(span, q.Method, q.Connector.Connector, s)
	raw, err := s.Send(ctx, query)
	failSpan(span, err)
	return raw, err
}

// describeRequest adds the server's attributes. Only host and port of the address: path and query may hold a
// key.
func describeRequest(span tracing.Span, method string, c connectors.Connector, s *mcp.Session) {
	span.Text(tracing.MCPMethod, method)
	span.Text(tracing.MCPVersion, s.Server().ProtocolVersion)
	span.Text(tracing.Connector, c.Slug)
	if c.Transport == connectors.TransportStdio {
		span.Text(tracing.Transport, "pipe")
		return
	}
	span.Text(tracing.Transport, "tcp")
	if address, err := url.Parse(c.URL); err == nil {
		span.Text(tracing.Address, address.Hostname())
		if port, err := strconv.Atoi(address.Port()); err == nil {
			span.Number(tracing.Port, port)
		}
	}
}

func failSpan(span tracing.Span, err error) {
	failure, ok := errors.AsType[*mcp.Error](err)
	switch {
	case err == nil:
	case !ok:
		span.Fail("cancelled")
	case failure.RPC != nil:
		code := strconv.Itoa(failure.RPCCode)
		span.Text(tracing.RPCStatus, code)
		span.Fail(code)
	default:
		span.Fail(string(cmp.Or(failure.Reason, mcp.ReasonProtocol)))
	}
}

// failureCode is the history's error code for err; empty: none.
func failureCode(err error) string {
	if err == nil {
		return ""
	}
	var c connectors.ToolCall
	setErrorOutcome(&c, err)
	return c.ErrorCode
}
