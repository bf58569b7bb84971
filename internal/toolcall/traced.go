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

// permitted is what stands between a call and its server but for people: the policy.
func (a *attempt) permitted(ctx context.Context) error {
	ctx, span := tracing.Child(ctx, "policy")
	defer span.End()
	err := a.admit(ctx)
	if err == nil {
		err = a.current(ctx)
	}
	span.Fail(failureWord(err))
	return err
}

// send makes the call with a session, as one request to the server.
func (a *attempt) send(ctx context.Context, s *mcp.Session, call mcp.Call) (*mcp.Result, error) {
	ctx, span := tracing.Client(ctx, "tools/call")
	if !span.On() {
		return s.Call(ctx, call)
	}
	defer span.End()
	span.Name("tools/call " + call.Name)
	span.Text(tracing.Operation, tracing.ExecutesTool)
	span.Text(tracing.ToolName, call.Name)
	describeRequest(span, "tools/call", a.reach.Connector, s)
	result, err := s.Call(ctx, call)
	if err == nil && result.IsError {
		span.Fail(tracing.ToolSaysFailed)
	}
	failedRequest(span, err)
	return result, err
}

// send makes another request with a session.
func (q *Query) send(ctx context.Context, s *mcp.Session, asked mcp.Query) ([]byte, error) {
	ctx, span := tracing.Client(ctx, q.Method)
	if !span.On() {
		return s.Query(ctx, asked)
	}
	defer span.End()
	if q.Kind == connectors.CallPrompt {
		span.Text(tracing.PromptName, q.Name)
	}
	describeRequest(span, q.Method, q.Reach.Connector, s)
	raw, err := s.Query(ctx, asked)
	failedRequest(span, err)
	return raw, err
}

// describeRequest says whom we ask. Of the address only host and port: path and query may hold a key.
func describeRequest(span tracing.Span, method string, c connectors.Connector, s *mcp.Session) {
	span.Text(tracing.MCPMethod, method)
	span.Text(tracing.MCPVersion, s.Server().ProtocolVersion)
	span.Text(tracing.Connector, c.Slug)
	if c.Transport == connectors.TransportStdio {
		span.Text(tracing.Transport, "pipe")
		return
	}
	span.Text(tracing.Transport, "tcp")
	if at, err := url.Parse(c.URL); err == nil {
		span.Text(tracing.Address, at.Hostname())
		if port, err := strconv.Atoi(at.Port()); err == nil {
			span.Number(tracing.Port, port)
		}
	}
}

func failedRequest(span tracing.Span, err error) {
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

// failureWord is the code under which a failure stands in the history; empty: there is none.
func failureWord(err error) string {
	if err == nil {
		return ""
	}
	var c connectors.ToolCall
	settleError(&c, err)
	return c.ErrorCode
}
