package upstream_test

import (
	"testing"

	"patchbay/internal/mcp"
)

// BenchmarkUse calls a tool in a session that is open: no statement, one request.
//
//	make bench
func BenchmarkUse(b *testing.B) {
	w := newBench(b)
	go func() {
		for range w.server.arrived { //nolint:revive // only to keep the server from waiting
		}
	}()
	want := w.newRequest(w.newSharedConnector(b))
	w.pool.SetListening(true)
	must(b, w.call(b.Context(), want))
	queries, requests := w.Queries(), w.server.requests
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		must(b, w.call(b.Context(), want))
	}
	b.ReportMetric(float64(w.Queries()-queries)/float64(n), "statements/op")
	b.ReportMetric(float64(w.server.requests-requests)/float64(n), "requests/op")
}

// BenchmarkPool measures the pool itself: no credential, no request.
func BenchmarkPool(b *testing.B) {
	w := newBench(b)
	want := w.newRequest(w.newSharedConnector(b))
	want.Connector.Auth.Type = "none"
	b.ReportAllocs()
	for b.Loop() {
		must(b, w.pool.Use(b.Context(), want, func(*mcp.Session) error { return nil }))
	}
}
