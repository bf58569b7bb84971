package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics are the numbers of one running server, in a registry of their own.
type Metrics struct {
	registry *prometheus.Registry

	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	throttled *prometheus.CounterVec
	traces    BeginTrace // nil: tracing is off

	syncRuns      *prometheus.CounterVec
	syncDurations prometheus.Histogram

	calls         *prometheus.CounterVec
	callDurations prometheus.Histogram
	quotaRefusals *prometheus.CounterVec
	structured    *prometheus.CounterVec

	upkeep upkeepMetrics
	spans  *prometheus.CounterVec
}

// NewMetrics makes the metrics of a server of the given version.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "patchbay_http_requests_total",
			Help: "HTTP requests, by method, route pattern and status class.",
		}, []string{"method", "route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "patchbay_http_request_duration_seconds",
			Help:    "HTTP request duration by route pattern, excluding event streams.",
			Buckets: []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30, 90},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "patchbay_http_requests_in_flight",
			Help: "HTTP requests in progress, including event streams.",
		}),
		throttled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "patchbay_api_throttled_total",
			Help: "API and page requests refused by a rate limit, by limit: caller (API key or person), tenant, or address (not signed in).",
		}, []string{"whose"}),
		syncRuns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "patchbay_sync_runs_total",
			Help: "Finished sync runs, by outcome: ok, or the failure's reason code.",
		}, []string{"outcome"}),
		syncDurations: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "patchbay_sync_run_duration_seconds",
			Help:    "Sync run duration.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180},
		}),
	}
	m.calls, m.callDurations = newCallMetrics()
	m.quotaRefusals, m.structured = newQuotaMetrics(), newStructuredMetrics()
	m.upkeep = newUpkeepMetrics()
	m.spans = newTraceMetric()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "patchbay_build_info",
		Help:        "1, with the version as a label.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(
		m.requests, m.durations, m.inFlight, m.throttled, m.syncRuns, m.syncDurations, m.calls, m.callDurations, m.quotaRefusals, m.structured, m.upkeep.swept, m.upkeep.renewed, m.upkeep.audit, m.spans, build,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	watchPanics(m.registry)
	return m
}

// SyncFinished counts one sync run. The outcome is "ok" or a reason code, never a sentence.
func (m *Metrics) SyncFinished(outcome string, took time.Duration) {
	m.syncRuns.WithLabelValues(outcome).Inc()
	m.syncDurations.Observe(took.Seconds())
}
