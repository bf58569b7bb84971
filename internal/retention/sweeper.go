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
	// batchRows is what one statement deletes or looks at, at most: some tens of milliseconds.
	batchRows = 1000
	// tenantPage is how many tenants are read at once.
	tenantPage = 500
)

// Options are what a Sweeper needs. Store is required.
type Options struct {
	Store *store.Store
	Days  int                                         // of history that the installation keeps; 0: connectors.DefaultHistoryDays
	Batch int                                         // rows of a statement; 0: 1000
	Log   *slog.Logger                                // nil: nowhere
	Now   func() time.Time                            // nil: time.Now
	Swept func(part connectors.HistoryPart, rows int) // is told of each batch; nil: nobody is
}

// Sweeper forgets old history.
type Sweeper struct {
	o Options
}

// New makes a Sweeper.
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

// Place is how far a sweep has come. The zero value is the beginning, and the end.
type Place struct {
	Done   uuid.UUID              `json:"done"`            // the tenants up to this one
	Tenant uuid.UUID              `json:"tenant"`          // the one after it, of which
	Part   connectors.HistoryPart `json:"part,omitempty"`  // the parts before this one are done, and of it
	After  []byte                 `json:"after,omitempty"` // everything up to here
}

// Open tells whether there is more to do.
func (p Place) Open() bool { return p.Done != uuid.Nil || p.Tenant != uuid.Nil }

// Sweep goes through all tenants from a place, for about as long as spell, and says how far it came. Where it fails in between, what it has
// forgotten stays forgotten.
func (s *Sweeper) Sweep(ctx context.Context, from Place, spell time.Duration) (Place, error) {
	began := time.Now()
	w := &sweep{Sweeper: s, place: from, until: began.Add(spell), rows: map[connectors.HistoryPart]int{}}
	err := w.tenants(ctx)
	w.tell(ctx, time.Since(began))
	return w.place, err
}

// sweep is one spell of it.
type sweep struct {
	*Sweeper
	place   Place
	until   time.Time
	visited int // tenants
	failed  int // of them, the last ones in a row
	batches int
	rows    map[connectors.HistoryPart]int
}

// over tells whether the spell is. Each gets on by a batch at least.
func (w *sweep) over() bool { return w.batches > 0 && !time.Now().Before(w.until) }

// tell logs what was forgotten, where anything was.
func (w *sweep) tell(ctx context.Context, took time.Duration) {
	if len(w.rows) == 0 {
		return
	}
	attrs := []any{slog.Int("tenants", w.visited), slog.Int64("duration_ms", took.Milliseconds()), slog.Bool("goes_on", w.place.Open())}
	for _, part := range connectors.HistoryParts {
		attrs = append(attrs, slog.Int(string(part), w.rows[part]))
	}
	w.o.Log.InfoContext(ctx, "old history swept", attrs...)
}

func (w *sweep) tenants(ctx context.Context) error {
	for {
		page, err := w.o.Store.System().HistoryTenants(ctx, connectors.TenantID{UUID: w.place.Done}, tenantPage)
		if err != nil {
			return fmt.Errorf("list the tenants whose history is swept: %w", err)
		}
		for _, of := range page {
			whole, err := w.tenant(ctx, of)
			if err = w.pass(ctx, err); err != nil || !whole {
				return err
			}
			w.place = Place{Done: of.Tenant.UUID}
		}
		if len(page) < tenantPage {
			w.place = Place{}
			return nil
		}
	}
}

// mostFailed is how many tenants in a row fail before it is taken for the database's fault.
const mostFailed = 3

// pass tells of a tenant whose sweep failed. The others' history is swept all the same, and this one's turn comes with the next round.
func (w *sweep) pass(ctx context.Context, failed error) error {
	if failed == nil {
		w.failed = 0
		return nil
	}
	if w.failed++; ctx.Err() != nil || w.failed >= mostFailed {
		return failed
	}
	w.o.Log.WarnContext(ctx, "a tenant's old history is not swept", slog.Any("error", failed))
	return nil
}

// tenant sweeps the parts of one tenant's history that are not done yet; whole: the time was enough.
func (w *sweep) tenant(ctx context.Context, of store.HistoryOf) (whole bool, err error) {
	if w.place.Tenant != of.Tenant.UUID {
		w.place = Place{Done: w.place.Done, Tenant: of.Tenant.UUID, Part: connectors.HistoryParts[0]}
	}
	w.visited++
	before := connectors.HistoryStart(w.o.Now(), connectors.KeptDays(of.Days, w.o.Days))
	at := max(0, slices.Index(connectors.HistoryParts, w.place.Part))
	for _, part := range connectors.HistoryParts[at:] {
		if part != w.place.Part {
			w.place.Part, w.place.After = part, nil
		}
		if whole, err := w.part(ctx, of.Tenant, before); err != nil || !whole {
			return whole, err
		}
	}
	return true, nil
}

func (w *sweep) part(ctx context.Context, id connectors.TenantID, before time.Time) (whole bool, err error) {
	door, part := w.o.Store.Tenant(id), w.place.Part
	for {
		if w.over() {
			return false, nil
		}
		swept, err := door.SweepHistory(ctx, part, store.SweepBatch{Before: before, After: w.place.After, Max: w.o.Batch})
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
		w.place.After = swept.Last
	}
}
