package gateway_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/gateway"
)

// BenchmarkPace measures the limiter with all processors in parallel.
func BenchmarkPace(b *testing.B) {
	wait, _ := gateway.Pace(1_000_000_000)
	tenant, from := connectors.TenantID{UUID: uuid.New()}, netip.MustParseAddr("192.0.2.1")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		agent := &connectors.Agent{ID: connectors.AgentID{UUID: uuid.New()}}
		for pb.Next() {
			if wait(tenant, agent, from, time.Now()) > 0 {
				b.Error("it came too soon")
			}
		}
	})
}
