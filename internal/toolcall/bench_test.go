package toolcall_test

import (
	"testing"

	"patchbay/internal/connectors"
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
