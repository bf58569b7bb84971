package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"patchbay/internal/safe"
)

// watchPanics counts what package safe has recovered in this process.
func watchPanics(registry *prometheus.Registry) {
	for _, kind := range safe.Kinds() {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name:        "patchbay_panics_total",
			Help:        "Recovered panics by kind of code; the log has their stacks.",
			ConstLabels: prometheus.Labels{"kind": kind.String()},
		}, func() float64 {
			defer safe.Recover(safe.Task)
			return float64(safe.Count(kind))
		}))
	}
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "patchbay_loops_waiting",
		Help: "Background loops that panicked and wait to restart.",
	}, func() float64 {
		defer safe.Recover(safe.Task)
		return float64(safe.WaitingLoops())
	}))
}
