package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"patchbay/internal/safe"
)

// WaitStats is what waiting for the database came to for agents' requests in this process.
type WaitStats struct {
	Waiting int                // now
	Waited  uint64             // since the start
	Time    time.Duration      // in sum, since the start
	Buckets map[float64]uint64 // how many waited for at most so many seconds
	Refused map[string]uint64  // by reason
}

// WatchWaits reads stats at every scrape.
func (m *Metrics) WatchWaits(stats func() WaitStats) {
	m.registry.MustRegister(&waitCollector{
		stats:   stats,
		waiting: prometheus.NewDesc("patchbay_gateway_db_waiting", "Agent requests waiting for the database.", nil, nil),
		waited:  prometheus.NewDesc("patchbay_gateway_db_wait_seconds", "Time that agent requests waited for the database, if they did.", nil, nil),
		refused: prometheus.NewDesc("patchbay_gateway_db_refusals_total", "Agent requests refused during a database outage, by reason: late (waited too long), full (too many waiting).", []string{"reason"}, nil),
	})
}

type waitCollector struct {
	stats                    func() WaitStats
	waiting, waited, refused *prometheus.Desc
}

// Describe names the metrics of waiting for the database.
func (c *waitCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.waiting
	ch <- c.waited
	ch <- c.refused
}

// Collect reads what waiting came to once.
func (c *waitCollector) Collect(ch chan<- prometheus.Metric) {
	defer safe.Recover(safe.Task)
	s := c.stats()
	ch <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(s.Waiting))
	ch <- prometheus.MustNewConstHistogram(c.waited, s.Waited, s.Time.Seconds(), s.Buckets)
	for reason, n := range s.Refused {
		ch <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(n), reason)
	}
}
