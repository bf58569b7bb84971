package store_test

import (
	"slices"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// Measures the outcome triggers per kind of statement, for 600 calls of one tenant, in turns with a database
// without them. Times are medians.
//
//	make bench
func BenchmarkOutcomeTriggers(b *testing.B) {
	for _, of := range []struct {
		name string
		turn func(b *testing.B, w *fixture.World, batch []store.OwnedCall) time.Duration
	}{
		{"insert", inserted}, {"update", updated}, {"delete", deleted},
	} {
		b.Run(of.name, func(b *testing.B) {
			with, without := fixture.New(b), fixture.New(b)
			without.AsOwner(b, "alter table tool_calls disable trigger user")
			batches := [2][]store.OwnedCall{batchOf(b, with, 1, 600), batchOf(b, without, 1, 600)}
			var took [2][]time.Duration
			for b.Loop() {
				for i, w := range []*fixture.World{with, without} {
					took[i] = append(took[i], of.turn(b, w, batches[i]))
				}
			}
			noted, bare := median(took[0]), median(took[1])
			b.ReportMetric(float64(noted.Nanoseconds())/600e3, "µs/call")
			b.ReportMetric(float64(bare.Nanoseconds())/600e3, "µs/call-without")
			b.ReportMetric(float64(noted)/float64(bare), "ratio")
		})
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// inserted is how long it takes to write calls that have begun and ended.
func inserted(b *testing.B, w *fixture.World, batch []store.OwnedCall) time.Duration {
	b.Helper()
	anew(batch, time.Now())
	return timed(b, func() error { return w.St.System().Calls().EndCalls(b.Context(), batch) })
}

// updated measures writing the ends of calls with stored beginnings.
func updated(b *testing.B, w *fixture.World, batch []store.OwnedCall) time.Duration {
	b.Helper()
	anew(batch, time.Now())
	begun := slices.Clone(batch)
	for i := range begun {
		begun[i].Status, begun[i].Outcome, begun[i].CompletedAt, begun[i].InstanceID = connectors.CallRunning, connectors.OutcomeNone, nil, &w.Instance
	}
	timed(b, func() error { return w.St.System().Calls().BeginCalls(b.Context(), begun) })
	return timed(b, func() error { return w.St.System().Calls().EndCalls(b.Context(), batch) })
}

// deleted is how long it takes to remove calls that are old.
func deleted(b *testing.B, w *fixture.World, batch []store.OwnedCall) time.Duration {
	b.Helper()
	anew(batch, time.Now().AddDate(0, 0, -100))
	timed(b, func() error { return w.St.System().Calls().EndCalls(b.Context(), batch) })
	return timed(b, func() error {
		_, err := w.Door().SweepHistory(b.Context(), connectors.HistoryParts[0], store.SweepBatch{Before: time.Now().AddDate(0, 0, -90), Max: len(batch)})
		return err
	})
}

// anew gives calls ids of a time, and requests of their own.
func anew(batch []store.OwnedCall, at time.Time) {
	for i := range batch {
		id := callIDAt(at)
		batch[i].ID.UUID, batch[i].CallOrigin = id, connectors.CallOriginOf("203.0.113.9", id.String()[10:])
	}
}

func timed(b *testing.B, do func() error) time.Duration {
	b.Helper()
	began := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
