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

// auditTenantPage is the number of tenants read at once.
const auditTenantPage = 100

// CheckAuditWorker verifies the tenants' audit chains and the chains of call outcomes, and reports broken ones.
type CheckAuditWorker struct {
	river.WorkerDefaults[queue.CheckAudit]
	store *store.Store
	onBad func()
	log   *slog.Logger
}

// auditCursor is the progress of a check: tenants up to Done are checked, and some calls of the next one.
type auditCursor struct {
	Done  uuid.UUID            `json:"done"`
	Calls *store.OutcomeCursor `json:"calls,omitempty"`
}

// Work checks for maintenanceTime and snoozes if there is more. The job stores the cursor, so that another process
// can continue.
func (w *CheckAuditWorker) Work(ctx context.Context, job *river.Job[queue.CheckAudit]) error {
	var cursor auditCursor
	if output := job.Output(); output != nil && json.Unmarshal(output, &cursor) != nil {
		if err := json.Unmarshal(output, &cursor.Done); err != nil { // format of the previous release
			return fmt.Errorf("read how far the check has come: %w", err)
		}
	}
	for deadline := time.Now().Add(maintenanceTime); ; {
		page, err := w.store.System().HistoryTenants(ctx, connectors.TenantID{UUID: cursor.Done}, auditTenantPage)
		if err != nil {
			return fmt.Errorf("list the tenants whose audit log is checked: %w", err)
		}
		for _, tenant := range page {
			if cursor.Calls, err = w.checkTenant(ctx, tenant.Tenant, cursor.Calls, deadline); err != nil {
				return err
			}
			if cursor.Calls == nil {
				cursor.Done = tenant.Tenant.UUID
			}
			if time.Now().After(deadline) {
				return w.pauseAt(ctx, cursor)
			}
		}
		if len(page) < auditTenantPage {
			return nil
		}
	}
}

// checkTenant checks a tenant's log, then its calls until the deadline, from where the last check stopped.
func (w *CheckAuditWorker) checkTenant(ctx context.Context, id connectors.TenantID, from *store.OutcomeCursor, deadline time.Time) (rest *store.OutcomeCursor, err error) {
	if from == nil || from.Tenant != id {
		if err := w.checkLog(ctx, id); err != nil {
			return nil, err
		}
	}
	return w.checkCalls(ctx, id, from, deadline)
}

func (w *CheckAuditWorker) pauseAt(ctx context.Context, cursor auditCursor) error {
	if err := river.RecordOutput(ctx, cursor); err != nil {
		return err
	}
	return river.JobSnooze(upkeepPause)
}

func (w *CheckAuditWorker) checkLog(ctx context.Context, tenant connectors.TenantID) error {
	check, err := w.store.Tenant(tenant).Audit().Check(ctx)
	if err != nil {
		return fmt.Errorf("check the audit log of tenant %s: %w", tenant, err)
	}
	if check.Bad == nil {
		return nil
	}
	w.log.ErrorContext(ctx, "audit log altered", slog.String("tenant_id", tenant.String()),
		slog.Int64("place", check.Bad.N), slog.Int64("events", check.Events), slog.String("reason", string(check.Bad.Reason)))
	if w.onBad != nil {
		w.onBad()
	}
	return nil
}

func (w *CheckAuditWorker) checkCalls(ctx context.Context, tenant connectors.TenantID, from *store.OutcomeCursor, deadline time.Time) (rest *store.OutcomeCursor, err error) {
	check, err := w.store.Tenant(tenant).Audit().CheckOutcomes(ctx, from, deadline)
	if err != nil {
		return nil, fmt.Errorf("check how the calls of tenant %s ended: %w", tenant, err)
	}
	bad := check.Bad
	if bad == nil {
		return check.Rest, nil
	}
	attrs := []any{slog.String("tenant_id", tenant.String()), slog.Int64("place", bad.N), slog.Int64("places", check.Places), slog.String("reason", string(bad.Reason))}
	if bad.Call != nil {
		attrs = append(attrs, slog.String("tool_call_id", bad.Call.String()))
	}
	w.log.ErrorContext(ctx, "call records altered", attrs...)
	if w.onBad != nil {
		w.onBad()
	}
	return nil, nil
}
