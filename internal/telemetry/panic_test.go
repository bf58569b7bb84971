package telemetry_test

import (
	"context"
	"strings"
	"testing"

	"patchbay/internal/safe"
	"patchbay/internal/telemetry"
)

// TestScrape_PanicLeavesOutItsMetricsAlone has each source panic, which the library calls in goroutines of its own.
func TestScrape_PanicLeavesOutItsMetricsAlone(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1")
	m.WatchPool(func() telemetry.PoolStats { panic("a secret") })
	m.WatchGateway(func() telemetry.GatewayStats { panic("a secret") })
	m.WatchListening(func() telemetry.ListeningStats { panic("a secret") })
	m.WatchBacklog(func(context.Context) (telemetry.Backlog, error) { panic("a secret") })
	before := safe.Count(safe.Task)
	for range 2 {
		text := scrape(t, m)
		wantLines(t, text, `patchbay_build_info{version="v1"} 1`)
		if strings.Contains(text, "a secret") || strings.Contains(text, "patchbay_db_connections") {
			t.Errorf("scraped: %s", text)
		}
	}
	if n := safe.Count(safe.Task) - before; n < 8 {
		t.Errorf("%d panics are counted", n)
	}
}
