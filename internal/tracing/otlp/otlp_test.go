package otlp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"patchbay/internal/fault"
	"patchbay/internal/tracing"
	"patchbay/internal/tracing/otlp"
)

// counted is what an exporter tells of its spans.
type counted struct{ sent, lost atomic.Int64 }

func start(t *testing.T, at http.Handler, log io.Writer) (*otlp.Exporter, *counted) {
	t.Helper()
	server := httptest.NewServer(at)
	t.Cleanup(server.Close)
	n := &counted{}
	e, err := otlp.Start(t.Context(), otlp.Options{
		Version: "1", Instance: "2", Log: slog.New(slog.NewJSONHandler(log, nil)),
		Sent: func(spans int) { n.sent.Add(int64(spans)) }, Lost: func(spans int) { n.lost.Add(int64(spans)) },
		Further: []otlptracehttp.Option{otlptracehttp.WithEndpointURL(server.URL + "/sekret-path"), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e, n
}

func spans(e *otlp.Exporter, n int) {
	tracer := e.Tracer()
	for range n {
		_, span := tracer.Begin(context.Background(), "a span", tracing.Inside)
		span.End()
	}
}

func TestWhatLibrariesSayOfErrorsIsLeftOut(t *testing.T) {
	t.Parallel()
	got := make(chan []byte, 1)
	e, n := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- body
	}), io.Discard)
	_, span := e.Provider().Tracer("a library").Start(t.Context(), "query")
	span.RecordError(errors.New("sekret in an error"))
	span.SetStatus(codes.Error, "sekret in a status")
	span.End()
	e.Stop(t.Context())
	body := <-got
	var batch collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &batch); err != nil {
		t.Fatal(err)
	}
	sent := batch.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0]
	if sent.GetName() != "query" || sent.GetStatus().GetCode() == 0 || len(sent.GetEvents()) != 0 || bytes.Contains(body, []byte("sekret")) {
		t.Errorf("sent %v", sent)
	}
	if n.sent.Load() != 1 || n.lost.Load() != 0 {
		t.Errorf("%d sent, %d lost", n.sent.Load(), n.lost.Load())
	}
}

func TestACollectorThatRefusesLosesSpansAndIsSaidOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	e, n := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "sekret words", http.StatusForbidden)
	}), &log)
	spans(e, 3000)
	e.Stop(t.Context())
	if n.lost.Load() != 3000 || n.sent.Load() != 0 {
		t.Errorf("%d sent, %d lost", n.sent.Load(), n.lost.Load())
	}
	if said := log.String(); strings.Count(said, "traces are lost") != 1 || !strings.Contains(said, "answered 403") || strings.Contains(said, "sekret") {
		t.Errorf("said: %s", said)
	}
}

// The collector takes what it is sent, and does not answer before the end.
func TestWhatFindsNoRoomIsCountedAndKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	e, n := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-release
	}), io.Discard)
	const all = 20_000
	spans(e, all) // more than fit, and it returns
	if n.lost.Load() < all/4 {
		t.Errorf("%d are lost", n.lost.Load())
	}
	close(release)
	e.Stop(t.Context())
	if n.lost.Load()+n.sent.Load() != all {
		t.Errorf("%d sent and %d lost of %d", n.sent.Load(), n.lost.Load(), all)
	}
}

func TestTheEndWaitsForACollectorNoLongerThanItIsGiven(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	var log bytes.Buffer
	e, _ := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(asked)
		<-release
	}), &log)
	defer close(release)
	spans(e, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	e.Stop(ctx)
	if !strings.Contains(log.String(), "traces not sent before the end") {
		t.Errorf("said: %s", log.String())
	}
}

func TestItIsSaidOnceAMinute(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var log bytes.Buffer
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	e, err := otlp.Start(t.Context(), otlp.Options{
		Log: slog.New(slog.NewJSONHandler(&log, nil)), Now: func() time.Time { return now }, Further: []otlptracehttp.Option{otlptracehttp.WithEndpointURL(server.URL)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for range 2 {
			spans(e, 1)
			if err := e.Provider().ForceFlush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Minute)
	}
	e.Stop(t.Context())
	if n := strings.Count(log.String(), "traces are lost"); n != 3 || strings.Count(log.String(), `"spans":2`) != 2 {
		t.Errorf("it is said %d times: %s", n, log.String())
	}
}

func TestSettingsThatNobodyWouldReadAreRefused(t *testing.T) {
	t.Parallel()
	const at = "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318"
	for name, c := range map[string]struct {
		env     []string
		at, why string
	}{
		"none":               {nil, "", ""},
		"an address":         {[]string{at}, "http://localhost:4318", ""},
		"one for traces":     {[]string{at, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://x.example/t"}, "https://x.example/t", ""},
		"all off":            {[]string{at, "OTEL_SDK_DISABLED=true"}, "", ""},
		"no exporter":        {[]string{at, "OTEL_TRACES_EXPORTER=none"}, "", ""},
		"another exporter":   {[]string{at, "OTEL_TRACES_EXPORTER=zipkin"}, "", "OTEL_TRACES_EXPORTER"},
		"no scheme":          {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318"}, "", "must be an http or https address"},
		"gRPC":               {[]string{at, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "", "over HTTP"},
		"an unknown sampler": {[]string{at, "OTEL_TRACES_SAMPLER=some"}, "", "OTEL_TRACES_SAMPLER"},
		"a ratio":            {[]string{at, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.1"}, "http://localhost:4318", ""},
		"no ratio":           {[]string{at, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=10%"}, "", "OTEL_TRACES_SAMPLER_ARG"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := otlp.Read(c.env)
			if c.why != "" {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.As(err).Message, c.why) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || s.Endpoint != c.at {
				t.Errorf("%q, %v", s.Endpoint, err)
			}
		})
	}
}
