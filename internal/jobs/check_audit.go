package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store"
)

// checkAuditPage is how many tenants are read at once.
const checkAuditPage = 100

// CheckAuditWorker computes the tenants' audit chains anew and tells of those that are not as they were recorded.
type CheckAuditWorker struct {
	river.WorkerDefaults[queue.CheckAudit]
	store *store.Store
	bad   func()
	log   *slog.Logger
}

// Work checks for a while, and sleeps where there are more tenants. Which was the last stands in the job: another process may go on.
func (w *CheckAuditWorker) Work(ctx context.Context, job *river.Job[queue.CheckAudit]) error {
	var done uuid.UUID
	if came := job.Output(); came != nil {
		if err := json.Unmarshal(came, &done); err != nil {
			return fmt.Errorf("read how far the check has come: %w", err)
		}
	}
	for end := time.Now().Add(upkeepSpell); ; {
		page, err := w.store.System().HistoryTenants(ctx, connectors.TenantID{UUID: done}, checkAuditPage)
		if err != nil {
			return fmt.Errorf("list the tenants whose audit log is checked: %w", err)
		}
		for _, of := range page {
			if err := w.check(ctx, of.Tenant); err != nil {
				return err
			}
			done = of.Tenant.UUID
			if time.Now().After(end) {
				return w.pause(ctx, done)
			}
		}
		if len(page) < checkAuditPage {
			return nil
		}
	}
}

func (w *CheckAuditWorker) pause(ctx context.Context, done uuid.UUID) error {
	if err := river.RecordOutput(ctx, done); err != nil {
		return err
	}
	return river.JobSnooze(upkeepPause)
}

func (w *CheckAuditWorker) check(ctx context.Context, tenant connectors.TenantID) error {
	check, err := w.store.Tenant(tenant).CheckAudit(ctx)
	if err != nil {
		return fmt.Errorf("check the audit log of tenant %s: %w", tenant, err)
	}
	if check.Bad == nil {
		return nil
	}
	w.log.ErrorContext(ctx, "the audit log is not as it was recorded", slog.String("tenant_id", tenant.String()),
		slog.Int64("place", check.Bad.N), slog.Int64("events", check.Events), slog.String("reason", string(check.Bad.Reason)))
	if w.bad != nil {
		w.bad()
	}
	return nil
}
