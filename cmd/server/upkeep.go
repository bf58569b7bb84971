package main

import (
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/jobs"
	"patchbay/internal/retention"
)

// upkeepJobs are scheduled deletions: old history, unfinished flows, unused accounts.
func (h *app) upkeepJobs() jobs.Part {
	return jobs.Upkeep(jobs.UpkeepOptions{
		Sweeper: retention.New(retention.Options{
			Store: h.database.store,
			Days:  h.run.server.HistoryDays,
			Log:   h.run.log,
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
		Log: h.run.log,
	})
}
