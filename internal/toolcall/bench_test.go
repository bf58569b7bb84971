package toolcall_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall"
)

// BenchmarkCall is a warm call: policy, arguments, limits, credential, one request, history.
//
//	make bench
func BenchmarkCall(b *testing.B) {
	w := newBench(b)
	c := w.connector(b, w.remote, perAgent)
	a := w.newTrustedAgent(b, c, func(a *connectors.Agent) { a.CallsPerMinute = connectors.MaxCallsPerMinute })
	w.saveCredential(b, c, &a.ID, connectors.Secret{Token: "x"})
	request := w.order(b, w.process, a, c, "search", `{"q":"some words to look for"}`)
	_, err := w.Call(b.Context(), request)
	must(b, err)
	w.history.Flush(b.Context())
	queries := w.Queries()
	_, requests := w.remote.requestCounts()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		_, err := w.Call(b.Context(), request)
		must(b, err)
	}
	w.history.Flush(b.Context())
	_, after := w.remote.requestCounts()
	b.ReportMetric(float64(w.Queries()-queries)/float64(n), "statements/op") // the history writes every 10 ms
	b.ReportMetric(float64(after-requests)/float64(n), "requests/op")
}

// memoryTransport answers in memory.
type memoryTransport struct{ remote *remote }

func (w memoryTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w.remote.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// BenchmarkCallInMemory is BenchmarkCall without a network.
//
//	make bench
func BenchmarkCallInMemory(b *testing.B) {
	var w *bench
	w = newBench(b, func(o *toolcall.Options) {
		o.Dialer = &mcp.Dialer{Version: "test", HTTP: &http.Client{Transport: lazyTransport(func() http.RoundTripper { return memoryTransport{w.remote} })}}
	})
	c := w.connector(b, w.remote, perAgent)
	a := w.newTrustedAgent(b, c)
	w.saveCredential(b, c, &a.ID, connectors.Secret{Token: "x"})
	request := w.order(b, w.process, a, c, "search", `{"q":"some words to look for"}`)
	b.ReportAllocs()
	for b.Loop() {
		_, err := w.Call(b.Context(), request)
		must(b, err)
	}
}

// lazyTransport is created on first use.
type lazyTransport func() http.RoundTripper

func (l lazyTransport) RoundTrip(r *http.Request) (*http.Response, error) { return l().RoundTrip(r) }
