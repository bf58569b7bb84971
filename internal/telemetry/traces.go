package telemetry

import "github.com/prometheus/client_golang/prometheus"

func newTraceMetric() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "patchbay_trace_spans_total",
		Help: "Finished spans, by outcome: sent to the collector, or lost.",
	}, []string{"outcome"})
}

// SpansSent counts parts of traces that the collector has.
func (m *Metrics) SpansSent(n int) { m.spans.WithLabelValues("sent").Add(float64(n)) }

// SpansLost counts those that it will never have.
func (m *Metrics) SpansLost(n int) { m.spans.WithLabelValues("lost").Add(float64(n)) }
