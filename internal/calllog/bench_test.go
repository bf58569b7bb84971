package calllog_test

import (
	"strings"
	"testing"
	"time"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
)

// BenchmarkWriter measures the history of a call, with its statements.
//
//	make bench
func BenchmarkWriter(b *testing.B) {
	for name, content := range map[string]string{
		"1KiB":   `[{"type":"text","text":"` + strings.Repeat("some words ", 90) + `"}]`,
		"100KiB": `[{"type":"text","text":"` + strings.Repeat("some words ", 9300) + `"}]`,
	} {
		b.Run(name, func(b *testing.B) {
			w := newWriterTest(b, func(o *calllog.Options) { o.Interval = 100 * time.Millisecond })
			w.tenant.CallHistory = connectors.HistoryRedacted
			call := w.newCall()
			before := w.Queries()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				c := call
				c.ID = w.newCall().ID
				w.writer.Begin(w.tenant, c).End(succeedWith(content))
				if n%1000 == 0 { // measures writing, not the memory limit
					w.writer.Flush(b.Context())
				}
			}
			w.writer.Flush(b.Context())
			b.ReportMetric(float64(w.Queries()-before)/float64(n), "statements/op")
		})
	}
}
