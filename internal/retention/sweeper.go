package retention

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

const (
	// batchRows bounds the rows of one statement: some tens of milliseconds.
	batchRows = 1000
	// tenantPage is the number of tenants read at once.
	tenantPage = 500
)

// Options configure a [Sweeper]. Store is required.
type Options struct {
	Store *store.Store
	Days  int                                         // retention of the installation in days; 0: connectors.DefaultHistoryDays
	Batch int                                         // rows of a statement; 0: 1000
	Log   *slog.Logger                                // nil: discard
	Now   func() time.Time                            // nil: time.Now
	Swept func(part connectors.HistoryPart, rows int) // called after each batch; may be nil
}

// Sweeper deletes old history.
type Sweeper struct {
	o Options
}

// New returns a Sweeper.
func New(o Options) *Sweeper {
	o.Days, o.Batch = cmp.Or(o.Days, connectors.DefaultHistoryDays), cmp.Or(o.Batch, batchRows)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Swept == nil {
		o.Swept = func(connectors.HistoryPart, int) {}
	}
	return &Sweeper{o: o}
}

// Place is the progress of a sweep. The zero value is the beginning, and the end.
type Place struct {
	Done   uuid.UUID              `json:"done"`            // tenants up to this one are done
	Tenant uuid.UUID              `json:"tenant"`          // current tenant
	Part   connectors.HistoryPart `json:"part,omitempty"`  // current part; earlier ones are done
	After  []byte                 `json:"after,omitempty"` // last row done of the part
}

// Open reports whether there is more to sweep.
func (p Place) Open() bool { return p.Done != uuid.Nil || p.Tenant != uuid.Nil }

// Sweep continues at a place for about spell and returns the place that it reached. After an error deleted rows
// stay deleted.
func (s *Sweeper) Sweep(ctx context.Context, cursor Place, spell time.Duration) (Place, error) {
	startedAt := time.Now()
	w := &sweepRun{Sweeper: s, cursor: cursor, deadline: startedAt.Add(spell), rows: map[connectors.HistoryPart]int{}}
	err := w.sweepTenants(ctx)
	w.logSwept(ctx, time.Since(startedAt))
	return w.cursor, err
}

// sweepRun is one call of Sweep.
type sweepRun struct {
	*Sweeper
	cursor   Place
	deadline time.Time
	tenants  int
	failed   int // tenants in a row
	batches  int
	rows     map[connectors.HistoryPart]int
}

// isTimeUp reports whether the time is over. Each run does at least one batch.
func (w *sweepRun) isTimeUp() bool { return w.batches > 0 && !time.Now().Before(w.deadline) }

// logSwept logs the deleted rows, if any.
func (w *sweepRun) logSwept(ctx context.Context, took time.Duration) {
	if len(w.rows) == 0 {
		return
	}
	attrs := []any{slog.Int("tenants", w.tenants), slog.Int64("duration_ms", took.Milliseconds()), slog.Bool("goes_on", w.cursor.Open())}
	for _, part := range connectors.HistoryParts {
		attrs = append(attrs, slog.Int(string(part), w.rows[part]))
	}
	w.o.Log.InfoContext(ctx, "old history swept", attrs...)
}

func (w *sweepRun) sweepTenants(ctx context.Context) error {
	for {
		page, err := w.o.Store.System().HistoryTenants(ctx, connectors.TenantID{UUID: w.cursor.Done}, tenantPage)
		if err != nil {
			return fmt.Errorf("list the tenants whose history is swept: %w", err)
		}
		for _, tenant := range page {
			complete, err := w.sweepTenant(ctx, tenant)
			if err = w.skipFailed(ctx, err); err != nil || !complete {
				return err
			}
			w.cursor = Place{Done: tenant.Tenant.UUID}
		}
		if len(page) < tenantPage {
			w.cursor = Place{}
			return nil
		}
	}
}

// maxFailed is the number of failing tenants in a row that fails the sweep.
const maxFailed = 3

// skipFailed logs a tenant's failure and goes on with the others. The next sweep retries it.
func (w *sweepRun) skipFailed(ctx context.Context, failed error) error {
	if failed == nil {
		w.failed = 0
		return nil
	}
	if w.failed++; ctx.Err() != nil || w.failed >= maxFailed {
		return failed
	}
	w.o.Log.WarnContext(ctx, "a tenant's old history not deleted", slog.Any("error", failed))
	return nil
}

// sweepTenant sweeps the remaining parts of a tenant; complete reports whether the time was enough.
func (w *sweepRun) sweepTenant(ctx context.Context, tenant store.TenantHistory) (complete bool, err error) {
	if w.cursor.Tenant != tenant.Tenant.UUID {
		w.cursor = Place{Done: w.cursor.Done, Tenant: tenant.Tenant.UUID, Part: connectors.HistoryParts[0]}
	}
	w.tenants++
	before := connectors.HistoryStart(w.o.Now(), connectors.KeptDays(tenant.Days, w.o.Days))
	first := max(0, slices.Index(connectors.HistoryParts, w.cursor.Part))
	for _, part := range connectors.HistoryParts[first:] {
		if part != w.cursor.Part {
			w.cursor.Part, w.cursor.After = part, nil
		}
		if complete, err := w.sweepPart(ctx, tenant.Tenant, before); err != nil || !complete {
			return complete, err
		}
	}
	return true, nil
}

func (w *sweepRun) sweepPart(ctx context.Context, id connectors.TenantID, before time.Time) (complete bool, err error) {
	st, part := w.o.Store.Tenant(id), w.cursor.Part
	for {
		if w.isTimeUp() {
			return false, nil
		}
		swept, err := st.SweepHistory(ctx, part, store.SweepBatch{Before: before, After: w.cursor.After, Max: w.o.Batch})
		if err != nil {
			return true, fmt.Errorf("sweep %s of tenant %s: %w", part, id, err)
		}
		w.batches++
		if swept.Rows > 0 {
			w.rows[part] += swept.Rows
			w.o.Swept(part, swept.Rows)
		}
		if !swept.More {
			return true, nil
		}
		w.cursor.After = swept.Last
	}
}
