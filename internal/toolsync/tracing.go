package toolsync

import (
	"cmp"
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/tracing"
)

// beginSpan begins the span of a sync, below the span of its request or job if there is one.
func (s *Syncer) beginSpan(ctx context.Context, tenant connectors.TenantID, trigger connectors.SyncTrigger) (context.Context, tracing.Span) {
	ctx, span := s.tracer.Begin(ctx, "sync", tracing.Inside)
	if span.On() {
		span.Text(tracing.Tenant, tenant.String())
		span.Text(tracing.Trigger, string(trigger))
	}
	return ctx, span
}

// describeSync adds the connector to the span of ctx.
func describeSync(ctx context.Context, c connectors.Connector) {
	if span := tracing.Here(ctx); span.On() {
		span.Name("sync " + c.Slug)
		span.Text(tracing.Connector, c.Slug)
	}
}

func endSpan(span tracing.Span, run connectors.SyncRunID, tools int, err error) {
	if !span.On() {
		return
	}
	if run != (connectors.SyncRunID{}) {
		span.Text(tracing.SyncRun, run.String())
	}
	span.Number(tracing.Tools, tools)
	if err != nil {
		span.Fail(failureReason(err))
	}
	span.End()
}

// listTools lists the tools under a client span.
func listTools(ctx context.Context, s *mcp.Session) (mcp.ToolList, error) {
	ctx, span := tracing.Client(ctx, "tools/list")
	defer span.End()
	span.Text(tracing.MCPMethod, "tools/list")
	span.Text(tracing.MCPVersion, s.Server().ProtocolVersion)
	list, err := s.Tools(ctx)
	if failed, ok := errors.AsType[*mcp.Error](err); ok {
		span.Fail(string(failed.Reason))
	}
	return list, err
}

// failureReason is the code of a failure, else its type or kind.
func failureReason(err error) string {
	if failed, ok := errors.AsType[*mcp.Error](err); ok {
		return string(failed.Reason)
	}
	f := fault.As(err)
	return cmp.Or(f.Code, f.Type, f.Kind.String())
}

// traceStep runs do under a span of its own.
func traceStep[T any](ctx context.Context, name string, do func(context.Context) (T, error)) (T, error) {
	return tracing.Step(ctx, name, failureReason, do)
}
