package credentials_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/oauth/oauthtest"
)

// BenchmarkHeaders resolves what an agent sends where the token is good: one statement, its row opened. The floor is the same
// SELECT by hand, its row read as text and not opened.
//
//	make bench
func BenchmarkHeaders(b *testing.B) {
	c := connect(b, oauthtest.Behaviour{}, time.Now().Add(24*time.Hour))
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must(b, c.bareSelect(b))
		}
	})
	b.Run("headers", func(b *testing.B) {
		r := c.here()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.For(b.Context(), c.Tenant, c.connector, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("headers in parallel", func(b *testing.B) {
		r := c.here()
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := r.For(b.Context(), c.Tenant, c.connector, nil); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// bareSelect is the round trip that cannot be saved: the tenant's scope, and the row.
func (c *connection) bareSelect(b *testing.B) error {
	b.Helper()
	batch := &pgx.Batch{}
	batch.Queue("select set_config('app.tenant_id', $1, true)", c.Tenant.String())
	batch.Queue("select status, expires_at, sealed from credentials where tenant_id = $1 and connector_id = $2 and agent_id is null", c.Tenant, c.connector.ID)
	sent := c.Pool.SendBatch(b.Context(), batch)
	if _, err := sent.Exec(); err != nil {
		return err
	}
	var status string
	var expires *time.Time
	var sealed []byte
	if err := sent.QueryRow().Scan(&status, &expires, &sealed); err != nil {
		return err
	}
	return sent.Close()
}
