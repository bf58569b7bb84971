package store_test

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"patchbay/internal/testing/fixture"
)

// Measures writing ended calls in batches of 1 000 by the size of their results: in total, and in this process.
//
//	make bench
func BenchmarkAddCalls(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10} {
		b.Run(fmt.Sprintf("%d KB", size>>10), func(b *testing.B) {
			w := fixture.New(b)
			batch := batchOf(b, w, 1, 1000)
			for i := range batch {
				word := fmt.Appendf(nil, "%d ", 1_000_000+i)
				batch[i].Content = bytes.Repeat(word, size/len(word))
			}
			anew(batch, time.Now())
			timed(b, func() error { return w.St.System().Calls().AddCalls(b.Context(), batch) })
			var own time.Duration
			b.ResetTimer()
			for b.Loop() {
				anew(batch, time.Now())
				began := cpu(b)
				if err := w.St.System().Calls().AddCalls(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
				own += cpu(b) - began
			}
			calls := float64(b.N * len(batch))
			b.ReportMetric(float64(b.Elapsed().Microseconds())/calls, "µs/call")
			b.ReportMetric(float64(own.Microseconds())/calls, "own-µs/call")
		})
	}
}

// cpu is the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var of syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &of); err != nil {
		b.Fatal(err)
	}
	return time.Duration(of.Utime.Nano() + of.Stime.Nano())
}
