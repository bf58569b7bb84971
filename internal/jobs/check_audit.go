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

// CheckAuditWorker computes the tenants' audit chains anew, and those of how their calls ended, and tells of those that are not as they were
// recorded.
type CheckAuditWorker struct {
	river.WorkerDefaults[queue.CheckAudit]
	store *store.Store
	bad   func()
	log   *slog.Logger
}

// checkPlace is how far the check has come: tenants up to one are done, and of the calls of the one after it, some.
type checkPlace struct {
	Done  uuid.UUID          `json:"done"`
	Calls *store.OutcomeWalk `json:"calls,omitempty"`
}

// Work checks for a while, and sleeps where there is more. How far it came stands in the job: another process may go on.
func (w *CheckAuditWorker) Work(ctx context.Context, job *river.Job[queue.CheckAudit]) error {
	var at checkPlace
	if came := job.Output(); came != nil && json.Unmarshal(came, &at) != nil {
		if err := json.Unmarshal(came, &at.Done); err != nil { // as the release before noted it
			return fmt.Errorf("read how far the check has come: %w", err)
		}
	}
	for end := time.Now().Add(upkeepSpell); ; {
		page, err := w.store.System().HistoryTenants(ctx, connectors.TenantID{UUID: at.Done}, checkAuditPage)
		if err != nil {
			return fmt.Errorf("list the tenants whose audit log is checked: %w", err)
		}
		for _, of := range page {
			if at.Calls, err = w.tenant(ctx, of.Tenant, at.Calls, end); err != nil {
				return err
			}
			if at.Calls == nil {
				at.Done = of.Tenant.UUID
			}
			if time.Now().After(end) {
				return w.pause(ctx, at)
			}
		}
		if len(page) < checkAuditPage {
			return nil
		}
	}
}

// tenant checks a tenant's log, and of its calls as many as there is time for, from where it stopped.
func (w *CheckAuditWorker) tenant(ctx context.Context, id connectors.TenantID, from *store.OutcomeWalk, until time.Time) (rest *store.OutcomeWalk, err error) {
	if from == nil || from.Tenant != id {
		if err := w.check(ctx, id); err != nil {
			return nil, err
		}
	}
	return w.calls(ctx, id, from, until)
}

func (w *CheckAuditWorker) pause(ctx context.Context, at checkPlace) error {
	if err := river.RecordOutput(ctx, at); err != nil {
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

func (w *CheckAuditWorker) calls(ctx context.Context, tenant connectors.TenantID, from *store.OutcomeWalk, until time.Time) (rest *store.OutcomeWalk, err error) {
	check, err := w.store.Tenant(tenant).CheckOutcomes(ctx, from, until)
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
	w.log.ErrorContext(ctx, "calls are not as it was recorded that they ended", attrs...)
	if w.bad != nil {
		w.bad()
	}
	return nil, nil
}
