package main

import (
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/jobs"
	"patchbay/internal/retention"
)

// upkeep is what is done by the clock and that nobody waits for: old history, what was left half-way, accounts that nobody uses.
func (h *house) upkeep() jobs.Part {
	return jobs.Upkeep(jobs.UpkeepOptions{
		Sweeper: retention.New(retention.Options{
			Store: h.database.store,
			Days:  h.serving.server.HistoryDays,
			Log:   h.serving.log,
			Swept: func(part connectors.HistoryPart, rows int) { h.metrics.HistorySwept(string(part), rows) },
		}),
		Store:       h.database.store,
		Revoke:      h.connect.RevokeDeleted,
		AuditBad:    h.metrics.AuditBad,
		System:      h.database.store.System(),
		Credentials: h.tokens,
		Renewed: func(r credentials.IdleReport) {
			h.metrics.IdleRenewed(map[string]int{"renewed": r.Renewed, "failed": r.Failed, "ended": r.Ended, "left": r.Left})
		},
		Log: h.serving.log,
	})
}
