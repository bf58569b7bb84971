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
	a := w.trusted(b, c, func(a *connectors.Agent) { a.CallsPerMinute = connectors.MaxCallsPerMinute })
	w.keep(b, c, &a.ID, connectors.Secret{Token: "x"})
	order := w.order(b, w.process, a, c, "search", `{"q":"some words to look for"}`)
	_, err := w.Call(b.Context(), order)
	must(b, err)
	w.history.Written(b.Context())
	queries := w.Queries()
	_, requests := w.remote.counted()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		_, err := w.Call(b.Context(), order)
		must(b, err)
	}
	w.history.Written(b.Context())
	_, after := w.remote.counted()
	b.ReportMetric(float64(w.Queries()-queries)/float64(n), "statements/op") // the history's, for all calls of 10 ms
	b.ReportMetric(float64(after-requests)/float64(n), "requests/op")
}

// wired answers in the process, at once.
type wired struct{ remote *remote }

func (w wired) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w.remote.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// BenchmarkCallItself is BenchmarkCall without a network.
//
//	make bench
func BenchmarkCallItself(b *testing.B) {
	var w *bench
	w = newBench(b, func(o *toolcall.Options) {
		o.Dialer = &mcp.Dialer{Version: "test", HTTP: &http.Client{Transport: late(func() http.RoundTripper { return wired{w.remote} })}}
	})
	c := w.connector(b, w.remote, perAgent)
	a := w.trusted(b, c)
	w.keep(b, c, &a.ID, connectors.Secret{Token: "x"})
	order := w.order(b, w.process, a, c, "search", `{"q":"some words to look for"}`)
	b.ReportAllocs()
	for b.Loop() {
		_, err := w.Call(b.Context(), order)
		must(b, err)
	}
}

// late is a transport that is made when it is used first.
type late func() http.RoundTripper

func (l late) RoundTrip(r *http.Request) (*http.Response, error) { return l().RoundTrip(r) }
