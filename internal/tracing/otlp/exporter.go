package otlp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"patchbay/internal/tracing"
)

const (
	// maxQueuedSpans bounds the spans in memory: a thousand calls, at a kilobyte each.
	maxQueuedSpans = 8192
	batch          = 512
	// lossLogInterval is how often it is said at most that spans are lost.
	lossLogInterval = time.Minute
)

// Options are what an Exporter needs besides the environment.
type Options struct {
	Version  string
	Instance string                 // this process
	Log      *slog.Logger           // nil: nowhere
	Now      func() time.Time       // nil: time.Now
	Lost     func(spans int)        // is told of spans that did not arrive; nil: nobody
	Sent     func(spans int)        // is told of those that did; nil: nobody
	Further  []otlptracehttp.Option // besides the environment, for tests
}

// Exporter sends what ended, in batches.
type Exporter struct {
	provider *sdk.TracerProvider
	waiting  atomic.Int64
	losses   losses
}

// Start begins. The collector need not be there.
func Start(ctx context.Context, o Options) (*Exporter, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	// Directly: what the variables HTTP_PROXY and its like say is not read, as anywhere in this program.
	direct := otlptracehttp.WithProxy(func(*http.Request) (*url.URL, error) { return nil, nil })
	client, err := otlptracehttp.New(ctx, append([]otlptracehttp.Option{direct}, o.Further...)...)
	if err != nil {
		return nil, fmt.Errorf("set up the exporter of traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "patchbay"), attribute.String("service.version", o.Version), attribute.String("service.instance.id", o.Instance)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	e := &Exporter{losses: losses{log: o.Log, now: o.Now, count: o.Lost}}
	queue := sdk.NewBatchSpanProcessor(&sender{next: client, waiting: &e.waiting, losses: &e.losses, sent: o.Sent},
		sdk.WithMaxQueueSize(maxQueuedSpans+1), sdk.WithMaxExportBatchSize(batch)) // its queue is never full: who comes too late meets the gate
	e.provider = sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithoutPanicRecording(),
		sdk.WithSpanProcessor(&gate{queue: queue, waiting: &e.waiting, losses: &e.losses}))
	return e, nil
}

// Tracer begins traces that are sent.
func (e *Exporter) Tracer() *tracing.Tracer { return tracing.New(e.provider) }

// Provider is for libraries that trace by themselves.
func (e *Exporter) Provider() *sdk.TracerProvider { return e.provider }

// Stop sends what waits, until ctx is done. The rest is lost.
func (e *Exporter) Stop(ctx context.Context) {
	_ = e.provider.Shutdown(ctx) // what it failed of is counted
	if left := e.waiting.Load(); left > 0 {
		e.losses.log.WarnContext(ctx, "traces not sent before the end", slog.Int64("spans", left))
	}
}
