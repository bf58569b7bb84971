package tracing

import (
	"context"
	"log/slog"
)

// Logs has each line say which trace it belongs to.
func Logs(h slog.Handler) slog.Handler { return logs{h} }

type logs struct{ slog.Handler }

// Handle adds the trace's id.
func (l logs) Handle(ctx context.Context, r slog.Record) error {
	if id := ID(ctx); id != "" {
		r.AddAttrs(slog.String("trace_id", id))
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs keeps what adds the id outermost.
func (l logs) WithAttrs(attrs []slog.Attr) slog.Handler { return logs{l.Handler.WithAttrs(attrs)} }

// WithGroup is as of every handler; the id then stands in the group.
func (l logs) WithGroup(name string) slog.Handler { return logs{l.Handler.WithGroup(name)} }
