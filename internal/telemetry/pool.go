package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"patchbay/internal/safe"
)

// PoolStats is the state of a connection pool at one moment.
type PoolStats struct {
	InUse, Idle, Max int32
	Waits            int64         // acquisitions that had to wait, since the start
	Waited           time.Duration // in sum, since the start
}

// WatchPool reads stats at every scrape.
func (m *Metrics) WatchPool(stats func() PoolStats) {
	m.registry.MustRegister(&poolCollector{
		stats:       stats,
		connections: prometheus.NewDesc("patchbay_db_connections", "Database connections, by state.", []string{"state"}, nil),
		max:         prometheus.NewDesc("patchbay_db_connections_max", "Maximum number of database connections.", nil, nil),
		waits:       prometheus.NewDesc("patchbay_db_waits_total", "Number of waits for a database connection.", nil, nil),
		waited:      prometheus.NewDesc("patchbay_db_wait_seconds_total", "Total wait time for database connections.", nil, nil),
	})
}

type poolCollector struct {
	stats                           func() PoolStats
	connections, max, waits, waited *prometheus.Desc
}

// Describe names the pool's metrics.
func (c *poolCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.connections
	ch <- c.max
	ch <- c.waits
	ch <- c.waited
}

// Collect reads the pool once.
func (c *poolCollector) Collect(ch chan<- prometheus.Metric) {
	defer safe.Recover(safe.Task)
	s := c.stats()
	ch <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(s.InUse), "in_use")
	ch <- prometheus.MustNewConstMetric(c.connections, prometheus.GaugeValue, float64(s.Idle), "idle")
	ch <- prometheus.MustNewConstMetric(c.max, prometheus.GaugeValue, float64(s.Max))
	ch <- prometheus.MustNewConstMetric(c.waits, prometheus.CounterValue, float64(s.Waits))
	ch <- prometheus.MustNewConstMetric(c.waited, prometheus.CounterValue, s.Waited.Seconds())
}
