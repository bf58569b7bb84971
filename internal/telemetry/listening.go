package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"patchbay/internal/safe"
)

// ListeningStats is what listening to connectors' servers came to in this process.
type ListeningStats struct {
	Streams  int            // that are open
	Notified int            // how often servers said that a list had changed, since the start
	Syncs    int            // that were queued for it
	Off      map[string]int // how often a server's stream was switched off, by reason
}

// WatchListening reads stats at every scrape.
func (m *Metrics) WatchListening(stats func() ListeningStats) {
	m.registry.MustRegister(&listeningCollector{
		stats:    stats,
		streams:  prometheus.NewDesc("patchbay_upstream_streams", "Open streams for list changes from connectors' servers.", nil, nil),
		notified: prometheus.NewDesc("patchbay_upstream_changes_total", "List changes announced by servers.", nil, nil),
		syncs:    prometheus.NewDesc("patchbay_upstream_change_syncs_total", "Syncs queued because of announced list changes.", nil, nil),
		off:      prometheus.NewDesc("patchbay_upstream_listening_off_total", "Times that listening to a server was disabled, by reason.", []string{"reason"}, nil),
	})
}

type listeningCollector struct {
	stats                         func() ListeningStats
	streams, notified, syncs, off *prometheus.Desc
}

// Describe names the metrics of listening.
func (c *listeningCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.streams
	ch <- c.notified
	ch <- c.syncs
	ch <- c.off
}

// Collect reads what listening came to once.
func (c *listeningCollector) Collect(ch chan<- prometheus.Metric) {
	defer safe.Recover(safe.Task)
	s := c.stats()
	ch <- prometheus.MustNewConstMetric(c.streams, prometheus.GaugeValue, float64(s.Streams))
	ch <- prometheus.MustNewConstMetric(c.notified, prometheus.CounterValue, float64(s.Notified))
	ch <- prometheus.MustNewConstMetric(c.syncs, prometheus.CounterValue, float64(s.Syncs))
	for reason, n := range s.Off {
		ch <- prometheus.MustNewConstMetric(c.off, prometheus.CounterValue, float64(n), reason)
	}
}
