package credentials_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/credentials"
	"patchbay/internal/oauth/oauthtest"
)

// BenchmarkHeaders resolves a valid token: one statement, its row decrypted. The floor is the same SELECT
// without decryption.
//
//	make bench
func BenchmarkHeaders(b *testing.B) {
	c := newConnection(b, oauthtest.Behaviour{}, time.Now().Add(24*time.Hour))
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must(b, c.selectGrant(b))
		}
	})
	b.Run("headers", func(b *testing.B) {
		r := c.newResolver()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Headers(b.Context(), c.Tenant, c.connector, credentials.Account{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("headers in parallel", func(b *testing.B) {
		r := c.newResolver()
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := r.Headers(b.Context(), c.Tenant, c.connector, credentials.Account{}); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// selectGrant is the minimal round trip: the tenant's scope and the row.
func (c *connection) selectGrant(b *testing.B) error {
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
