package history_test

import (
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/history"
)

// BenchmarkWriter is what the history costs a call, with the statements that write it.
//
//	make bench
func BenchmarkWriter(b *testing.B) {
	for name, content := range map[string]string{
		"1KiB":   `[{"type":"text","text":"` + strings.Repeat("some words ", 90) + `"}]`,
		"100KiB": `[{"type":"text","text":"` + strings.Repeat("some words ", 9300) + `"}]`,
	} {
		b.Run(name, func(b *testing.B) {
			w := newBench(b, func(o *history.Options) { o.Interval = 100 * time.Millisecond })
			w.tenant.CallHistory = connectors.HistoryRedacted
			call := w.call()
			before := w.Queries()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				c := call
				c.ID = w.call().ID
				w.writer.Begin(w.tenant, c).End(succeeds(content))
				if n%1000 == 0 { // it is about the writer, and not about how much fits into memory
					w.writer.Written(b.Context())
				}
			}
			w.writer.Written(b.Context())
			b.ReportMetric(float64(w.Queries()-before)/float64(n), "statements/op")
		})
	}
}
