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

// beginSpan begins the span of a sync: a part of the request or the job that asked for it, else a trace of its own.
func (s *Syncer) beginSpan(ctx context.Context, tenant connectors.TenantID, trigger connectors.SyncTrigger) (context.Context, tracing.Span) {
	ctx, span := s.tracer.Begin(ctx, "sync", tracing.Inside)
	if span.On() {
		span.Text(tracing.Tenant, tenant.String())
		span.Text(tracing.Trigger, string(trigger))
	}
	return ctx, span
}

// describeSync says of the span that ctx belongs to which connector is synced.
func describeSync(ctx context.Context, c connectors.Connector) {
	if span := tracing.Here(ctx); span.On() {
		span.Name("sync " + c.Slug)
		span.Text(tracing.Connector, c.Slug)
	}
}

// endSpan says what came of it.
func endSpan(span tracing.Span, run connectors.SyncRunID, tools int, err error) {
	if !span.On() {
		return
	}
	if run != (connectors.SyncRunID{}) {
		span.Text(tracing.SyncRun, run.String())
	}
	span.Number(tracing.Tools, tools)
	if err != nil {
		span.Fail(failureWord(err))
	}
	span.End()
}

// listTools reads the list of tools, as a request to the server.
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

// failureWord is the reason code of a failure, or of what a conversation failed of, else its kind.
func failureWord(err error) string {
	if failed, ok := errors.AsType[*mcp.Error](err); ok {
		return string(failed.Reason)
	}
	f := fault.As(err)
	return cmp.Or(f.Code, f.Type, f.Kind.String())
}

// step does a part of a sync under a span of its own.
func step[T any](ctx context.Context, name string, do func(context.Context) (T, error)) (T, error) {
	return tracing.Step(ctx, name, failureWord, do)
}
