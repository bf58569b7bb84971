package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"patchbay/internal/safe"
)

// CallFinished counts one call of an agent. The outcome is one of a few words, never a name or a sentence.
func (m *Metrics) CallFinished(outcome string, took time.Duration) {
	m.calls.WithLabelValues(outcome).Inc()
	m.callDurations.Observe(took.Seconds())
}

// StructuredChecked counts one result that was checked by the output schema of its tool.
func (m *Metrics) StructuredChecked(valid bool) {
	verdict := verdictInvalid
	if valid {
		verdict = verdictValid
	}
	m.structured.WithLabelValues(verdict).Inc()
}

// Verdicts about structured results.
const (
	verdictValid   = "valid"
	verdictInvalid = "invalid"
)

func newStructuredMetrics() *prometheus.CounterVec {
	checked := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "patchbay_structured_results_total",
		Help: "Tool results checked against output schemas, by verdict (valid, invalid).",
	}, []string{"verdict"})
	checked.WithLabelValues(verdictValid)
	checked.WithLabelValues(verdictInvalid)
	return checked
}

// QuotaRefused counts one call that a quota refused: whose it is, tool or tenant, and of which period, minute or day.
func (m *Metrics) QuotaRefused(whose, period string) {
	m.quotaRefusals.WithLabelValues(whose, period).Inc()
}

func newQuotaMetrics() *prometheus.CounterVec {
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "patchbay_quota_refusals_total",
		Help: "Calls refused by a quota, by its owner (tool, tenant) and period (minute, day).",
	}, []string{"quota", "period"})
	for _, whose := range []string{"tool", "tenant"} {
		refusals.WithLabelValues(whose, "minute")
		refusals.WithLabelValues(whose, "day")
	}
	return refusals
}

func newCallMetrics() (*prometheus.CounterVec, prometheus.Histogram) {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "patchbay_tool_calls_total",
			Help: "Finished agent calls, by outcome: ok, tool_error, rpc_error, transport, refused, denied, cancelled.",
		}, []string{"outcome"}),
		prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "patchbay_tool_call_duration_seconds",
			Help:    "Call duration, including waits for approval.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		})
}

// GatewayStats is the state of the gateway in this process at one moment.
type GatewayStats struct {
	Listeners int            // agents that listen to changes
	Sessions  int            // open sessions with connectors' servers
	Circuits  map[string]int // breakers of servers, by state
}

// WatchGateway reads stats at every scrape.
func (m *Metrics) WatchGateway(stats func() GatewayStats) {
	m.registry.MustRegister(&gatewayCollector{
		stats:     stats,
		listeners: prometheus.NewDesc("patchbay_gateway_listeners", "Agents listening for changes.", nil, nil),
		sessions:  prometheus.NewDesc("patchbay_upstream_sessions", "Open sessions with connectors' servers.", nil, nil),
		circuits:  prometheus.NewDesc("patchbay_upstream_circuits", "Circuit breakers of connectors, by state.", []string{"state"}, nil),
	})
}

type gatewayCollector struct {
	stats                         func() GatewayStats
	listeners, sessions, circuits *prometheus.Desc
}

// Describe names the gateway's metrics.
func (c *gatewayCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.listeners
	ch <- c.sessions
	ch <- c.circuits
}

// Collect reads the gateway once.
func (c *gatewayCollector) Collect(ch chan<- prometheus.Metric) {
	defer safe.Recover(safe.Task)
	s := c.stats()
	ch <- prometheus.MustNewConstMetric(c.listeners, prometheus.GaugeValue, float64(s.Listeners))
	ch <- prometheus.MustNewConstMetric(c.sessions, prometheus.GaugeValue, float64(s.Sessions))
	for state, n := range s.Circuits {
		ch <- prometheus.MustNewConstMetric(c.circuits, prometheus.GaugeValue, float64(n), state)
	}
}
