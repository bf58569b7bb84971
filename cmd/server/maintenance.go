package main

import (
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/jobs"
	"patchbay/internal/retention"
)

// maintenanceJobs are scheduled deletions: old history, unfinished flows, unused accounts.
func (h *app) maintenanceJobs() jobs.Module {
	return jobs.Upkeep(jobs.MaintenanceOptions{
		Sweeper: retention.New(retention.Options{
			Store: h.database.Store,
			Days:  h.run.server.HistoryDays,
			Log:   h.run.log,
			Swept: func(part connectors.HistoryPart, rows int) { h.metrics.HistorySwept(string(part), rows) },
		}),
		Store:         h.database.Store,
		Revoke:        h.connect.RevokeDeleted,
		OnAuditBroken: h.metrics.AuditBad,
		System:        h.database.Store.System(),
		Credentials:   h.credentials,
		Renewed: func(r credentials.IdleReport) {
			h.metrics.IdleRenewed(map[string]int{"renewed": r.Refreshed, "failed": r.Failed, "ended": r.Ended, "left": r.Postponed})
		},
		Log: h.run.log,
	})
}
