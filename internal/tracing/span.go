package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Span is a part of a trace. The zero value is none: it takes everything, and does nothing.
type Span struct{ span trace.Span }

// Child begins a step of what ctx belongs to. Where that is not traced, nothing is.
func Child(ctx context.Context, name string) (context.Context, Span) { return part(ctx, name, Inside) }

// Client is Child for something that is asked of another program.
func Client(ctx context.Context, name string) (context.Context, Span) {
	return part(ctx, name, Asking)
}

func part(ctx context.Context, name string, kind Kind) (context.Context, Span) {
	of := Here(ctx)
	if !of.On() {
		return ctx, Span{}
	}
	return begin(ctx, of.span.TracerProvider().Tracer(scope), name, kind)
}

// Here is the span that ctx belongs to; none where nobody looks.
func Here(ctx context.Context) Span {
	if !made.Load() {
		return Span{}
	}
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return Span{}
	}
	return Span{span}
}

// On reports whether the span is recorded. Attributes are computed only then.
func (s Span) On() bool { return s.span != nil }

// Name gives the span another name.
func (s Span) Name(name string) {
	if s.span != nil {
		s.span.SetName(name)
	}
}

// Text notes a fact. An empty one is left out.
func (s Span) Text(key attribute.Key, value string) {
	if s.span != nil && value != "" {
		s.span.SetAttributes(key.String(value))
	}
}

// Number notes a number.
func (s Span) Number(key attribute.Key, n int) {
	if s.span != nil {
		s.span.SetAttributes(key.Int(n))
	}
}

// Fail says that it failed, and how: a word of few, never a sentence. An empty one is no failure.
func (s Span) Fail(how string) {
	if s.span != nil && how != "" {
		s.span.SetAttributes(ErrorType.String(how))
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends the span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

// Step does a part of what ctx belongs to under a span of its own. word is what is said of a failure: one of few words.
func Step[T any](ctx context.Context, name string, word func(error) string, do func(context.Context) (T, error)) (T, error) {
	ctx, span := Child(ctx, name)
	defer span.End()
	done, err := do(ctx)
	if err != nil && span.On() {
		span.Fail(word(err))
	}
	return done, err
}

// ID is the id of the trace that ctx belongs to; empty: it is not traced.
func ID(ctx context.Context) string {
	if !made.Load() {
		return ""
	}
	of := trace.SpanContextFromContext(ctx)
	if !of.IsSampled() {
		return ""
	}
	return of.TraceID().String()
}
