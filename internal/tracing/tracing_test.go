package tracing_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"patchbay/internal/tracing"
)

const (
	theirTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	theirParent = "00-" + theirTrace + "-00f067aa0ba902b7-01"
)

func recording(t *testing.T, o ...sdk.TracerProviderOption) (*tracing.Tracer, *tracetest.SpanRecorder) {
	t.Helper()
	r := tracetest.NewSpanRecorder()
	return tracing.New(sdk.NewTracerProvider(append(o, sdk.WithSpanProcessor(r))...)), r
}

// What a call does, where nobody looks: by the way that it takes where there is a Tracer somewhere in the process.
func untraced(ctx context.Context) {
	ctx, message := tracing.Message(ctx, "mcp", nil)
	defer message.End()
	if message.On() {
		panic("somebody looks")
	}
	for range 4 {
		ctx, span := tracing.Child(ctx, "policy")
		span.Text(tracing.ToolName, "x")
		span.Number(tracing.Port, 1)
		span.Fail("")
		span.End()
		_ = tracing.ID(ctx)
		_ = tracing.Here(ctx)
	}
	_, asked := tracing.Client(ctx, "tools/call")
	asked.End()
}

// deep is a context as a request's is, with what net/http and we put into it.
func deep(t testing.TB) context.Context {
	t.Helper()
	ctx := t.Context()
	for range 6 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(context.WithValue(ctx, http.ServerContextKey, 1))
		t.Cleanup(cancel)
	}
	return ctx
}

func TestWhatNobodyLooksAtAllocatesNothing(t *testing.T) {
	recording(t) // else nothing would even look
	ctx := deep(t)
	var off *tracing.Tracer
	if n := testing.AllocsPerRun(1000, func() {
		untraced(ctx)
		_, span := off.Begin(ctx, "HTTP", tracing.Server)
		span.End()
	}); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
	if off.Requests(nil) != nil || off.Told() != nil {
		t.Error("requests are looked at, or servers told, where tracing is off")
	}
}

func BenchmarkWhatNobodyLooksAt(b *testing.B) {
	tracing.New(sdk.NewTracerProvider())
	ctx := deep(b)
	b.ReportAllocs()
	for b.Loop() {
		untraced(ctx)
	}
}

func TestATraceGoesThroughHeadersMetaAndJobs(t *testing.T) {
	t.Parallel()
	tracer, ended := recording(t)
	ctx := tracing.FromHeader(t.Context(), http.Header{"Traceparent": {theirParent}, "Tracestate": {"vendor=1"}, "Baggage": {"user=alice"}})
	ctx, door := tracer.Begin(ctx, "POST /mcp", tracing.Server)
	_, step := tracing.Child(ctx, "policy")
	step.Fail("held")
	step.End()
	told := tracing.Carry(ctx)
	door.End()
	if !strings.HasPrefix(told.Parent, "00-"+theirTrace+"-") || strings.Contains(told.Parent, "00f067aa0ba902b7") || told.State != "vendor=1" {
		t.Errorf("told %+v", told)
	}
	if tracing.ID(ctx) != theirTrace {
		t.Errorf("the trace is %s", tracing.ID(ctx))
	}
	job := tracing.InMeta(told.Meta()).Within(t.Context())
	_, work := tracer.Begin(job, "job", tracing.Worker)
	work.End()
	for _, span := range ended.Ended() {
		if span.SpanContext().TraceID().String() != theirTrace {
			t.Errorf("%s is in another trace", span.Name())
		}
	}
	if n := len(ended.Ended()); n != 3 {
		t.Errorf("%d spans", n)
	}
}

func TestWhatIsNoTraceContextIsNone(t *testing.T) {
	t.Parallel()
	tracer, ended := recording(t)
	for _, meta := range []string{`{"traceparent":7}`, `{"traceparent":"00-0-0-01"}`, `{"traceparent":"` + strings.Repeat("0", 99) + `"}`, `{"traceparent":`, `{"x":"\"traceparent\""}`} {
		ctx, door := tracer.Begin(t.Context(), "POST /mcp", tracing.Server)
		_, call := tracing.Message(ctx, "mcp", []byte(meta))
		call.End()
		door.End()
	}
	all := ended.Ended()
	for i := 0; i < len(all); i += 2 {
		if all[i].Parent().SpanID() != all[i+1].SpanContext().SpanID() || len(all[i].Links()) != 0 {
			t.Errorf("%d: the call is no part of its request", i)
		}
	}
	ctx := tracing.FromHeader(t.Context(), http.Header{"Traceparent": {theirParent, theirParent}})
	if tracing.Carry(ctx).Parent != "" {
		t.Error("of two headers one is believed")
	}
}

// A caller whose trace is not kept, and a sampler that keeps none, are told on: whoever comes next need not look, either.
func TestATraceThatIsNotKeptIsToldOnAsThat(t *testing.T) {
	t.Parallel()
	tracer, ended := recording(t, sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())))
	ctx := tracing.FromHeader(t.Context(), http.Header{"Traceparent": {strings.TrimSuffix(theirParent, "1") + "0"}})
	ctx, door := tracer.Begin(ctx, "POST /mcp", tracing.Server)
	_, step := tracing.Child(ctx, "policy")
	if door.On() || step.On() || len(ended.Ended()) != 0 || tracing.ID(ctx) != "" {
		t.Error("it is kept")
	}
	if told := tracing.Carry(ctx).Parent; !strings.HasPrefix(told, "00-"+theirTrace) || !strings.HasSuffix(told, "-00") {
		t.Errorf("told %q", told)
	}
}

func TestALineOfTheLogSaysItsTrace(t *testing.T) {
	t.Parallel()
	tracer, _ := recording(t)
	var out bytes.Buffer
	log := slog.New(tracing.Logs(slog.NewJSONHandler(&out, nil))).With("a", 1)
	ctx, span := tracer.Begin(t.Context(), "HTTP", tracing.Server)
	defer span.End()
	log.InfoContext(ctx, "request answered")
	var line struct {
		TraceID string `json:"trace_id"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.TraceID != tracing.ID(ctx) || line.TraceID == "" {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	log.InfoContext(t.Context(), "other")
	if strings.Contains(out.String(), "trace_id") {
		t.Errorf("of no trace: %s", out.String())
	}
}
