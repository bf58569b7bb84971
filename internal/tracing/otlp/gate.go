package otlp

import (
	"context"
	"sync/atomic"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"patchbay/internal/safe"
)

// gate lets as many spans into the queue as there is room for, and has the others counted. The queue of the library forgets them without
// a word.
type gate struct {
	queue   sdk.SpanProcessor
	waiting *atomic.Int64 // spans in the queue, those that are being sent among them
	losses  *losses
}

// OnStart does nothing.
func (g *gate) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd takes a span that ended.
func (g *gate) OnEnd(s sdk.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if g.waiting.Add(1) > maxQueuedSpans {
		g.waiting.Add(-1)
		g.losses.add(context.Background(), 1, "more end than are taken")
		return
	}
	g.queue.OnEnd(s)
}

// ForceFlush sends what waits.
func (g *gate) ForceFlush(ctx context.Context) error { return g.queue.ForceFlush(ctx) }

// Shutdown sends what waits, until ctx is done, and ends the queue with the sender.
func (g *gate) Shutdown(ctx context.Context) error { return g.queue.Shutdown(ctx) }

// sender sends batches, and keeps their failures to itself: the library would tell a logger that is everybody's.
type sender struct {
	next    sdk.SpanExporter
	waiting *atomic.Int64
	losses  *losses
	sent    func(int) // nil: nobody counts
}

// ExportSpans sends a batch. The library calls it in a goroutine that does not recover.
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	defer safe.Recover(safe.Task)
	defer func() { s.waiting.Add(-int64(len(spans))) }()
	said := make([]sdk.ReadOnlySpan, len(spans))
	for i, span := range spans {
		said[i] = discreet{span}
	}
	err := s.next.ExportSpans(ctx, said)
	switch {
	case err != nil:
		s.losses.add(ctx, len(spans), reason(err))
	case s.sent != nil:
		s.sent(len(spans))
	}
	return nil
}

// Shutdown ends the sender.
func (s *sender) Shutdown(ctx context.Context) error { return s.next.Shutdown(ctx) }

// discreet is a span without what may repeat what somebody sent: the texts of errors, which libraries note by themselves.
type discreet struct{ sdk.ReadOnlySpan }

// Events are none: a library's events are errors with their texts.
func (discreet) Events() []sdk.Event { return nil }

// Status is whether it failed.
func (d discreet) Status() sdk.Status { return sdk.Status{Code: d.ReadOnlySpan.Status().Code} }
