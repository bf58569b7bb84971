package retention_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/retention"
	"patchbay/internal/testing/fixture"
)

// BenchmarkSweep deletes 50,000 calls of a tenant with as many newer ones, with arguments and results of 200
// and 800 bytes, beside as many of another tenant. It reports rows a second and WAL bytes a row.
func BenchmarkSweep(b *testing.B) {
	const rows = 50_000
	for b.Loop() {
		b.StopTimer()
		w := fixture.New(b)
		c, theirs := w.Connector(b), w.ConnectorIn(b, w.Other)
		for _, of := range []float64{100, 20} {
			w.OldCalls(b, c, "search", of, rows)
		}
		w.OldCalls(b, theirs, "search", 20, 2*rows)
		w.AsSystem(b, `update tool_calls set arguments = decode(repeat('6162', 100), 'hex'), content = (select string_agg(decode(md5(i::text), 'hex'), '') from generate_series(1, 50) i)`, nil)
		owner, err := pgx.Connect(b.Context(), w.URL)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := owner.Exec(b.Context(), "vacuum analyze tool_calls"); err != nil {
			b.Fatal(err)
		}
		s, before := retention.New(retention.Options{Store: w.St}), walBytes(b, owner)
		b.StartTimer()
		began := time.Now()
		if _, err := s.Sweep(b.Context(), retention.Place{}, time.Hour); err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		b.StopTimer()
		b.ReportMetric(rows/took.Seconds(), "rows/s")
		b.ReportMetric(float64(walBytes(b, owner)-before)/rows, "WAL-B/row")
		if n := w.Count(b, "tool_calls"); n != 3*rows {
			b.Fatalf("%d calls are left", n)
		}
		_ = owner.Close(context.WithoutCancel(b.Context()))
		b.StartTimer()
	}
}

// walBytes returns the WAL bytes written so far.
func walBytes(b *testing.B, owner *pgx.Conn) (bytes int64) {
	b.Helper()
	if err := owner.QueryRow(b.Context(), "select (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&bytes); err != nil {
		b.Fatal(err)
	}
	return bytes
}
