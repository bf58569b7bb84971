package telemetry

import "github.com/prometheus/client_golang/prometheus"

// upkeepMetrics are of what is done by the clock and that nobody waits for.
type upkeepMetrics struct {
	swept   *prometheus.CounterVec
	renewed *prometheus.CounterVec
	audit   prometheus.Counter
}

func newUpkeepMetrics() upkeepMetrics {
	return upkeepMetrics{
		swept: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "patchbay_history_swept_rows_total",
			Help: "Old history rows deleted, by table; keys: API keys and agent tokens.",
		}, []string{"table"}),
		renewed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "patchbay_idle_accounts_total",
			Help: "Renewals of accounts unused for a day, by outcome: renewed, failed (will retry), ended, left (authorization server failed).",
		}, []string{"outcome"}),
		audit: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "patchbay_audit_chains_bad_total",
			Help: "Tenants whose audit log failed the daily verification; the log names them.",
		}),
	}
}

// AuditBad counts a tenant whose audit log, or whose record of how calls ended, is not as it was recorded.
func (m *Metrics) AuditBad() { m.upkeep.audit.Inc() }

// HistorySwept counts rows of one table that were deleted because they are old.
func (m *Metrics) HistorySwept(table string, rows int) {
	m.upkeep.swept.WithLabelValues(table).Add(float64(rows))
}

// IdleRenewed counts what came of a round of renewals of accounts that nobody uses.
func (m *Metrics) IdleRenewed(outcomes map[string]int) {
	for outcome, n := range outcomes {
		m.upkeep.renewed.WithLabelValues(outcome).Add(float64(n))
	}
}
