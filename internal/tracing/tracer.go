package tracing

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"
)

// scope is what our spans say that they are of.
const scope = "patchbay"

// made is set by the first Tracer. Before, no context holds a span, and nobody needs to look for one.
var made atomic.Bool

// Tracer begins traces. nil is one that begins none.
type Tracer struct{ tracer trace.Tracer }

// New makes a Tracer whose spans go to a provider.
func New(p trace.TracerProvider) *Tracer {
	made.Store(true)
	return &Tracer{tracer: p.Tracer(scope)}
}

// Begin begins a span: a part of what ctx belongs to, or a trace of its own.
func (t *Tracer) Begin(ctx context.Context, name string, kind Kind) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	return begin(ctx, t.tracer, name, kind)
}

// Kind is which side of something a span is.
type Kind = trace.SpanKind

// The kinds.
const (
	Inside = trace.SpanKindInternal // a step of our own
	Server = trace.SpanKindServer   // somebody asked us
	Asking = trace.SpanKindClient   // we asked somebody
	Worker = trace.SpanKindConsumer // it waited in the queue
)

func begin(ctx context.Context, t trace.Tracer, name string, kind Kind, links ...trace.Link) (context.Context, Span) {
	ctx, span := t.Start(ctx, name, trace.WithSpanKind(kind), trace.WithLinks(links...))
	if !span.IsRecording() {
		return ctx, Span{} // nobody looks, but whoever is asked next is told so
	}
	return ctx, Span{span}
}
