package otlp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"

	"patchbay/internal/safe"
	"patchbay/internal/tracing/otlp"
)

// TestExport_PanicLosesItsBatchAlone has the report of a batch panic, which the library calls in a goroutine of its own.
func TestExport_PanicLosesItsBatchAlone(t *testing.T) {
	panics, sent := true, 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	e, err := otlp.Start(t.Context(), otlp.Options{
		Sent: func(spans int) {
			if panics {
				panics = false
				panic("of a test")
			}
			sent += spans
		},
		Further: []otlptracehttp.Option{otlptracehttp.WithEndpointURL(server.URL), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := safe.Count(safe.Task)
	for range 2 {
		spans(e, 1)
		if err := e.Provider().ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e.Stop(t.Context())
	if n := safe.Count(safe.Task) - before; n < 1 || sent != 1 {
		t.Errorf("%d panics are counted, %d spans are sent", n, sent)
	}
}
