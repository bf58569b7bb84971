package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// SetHistoryDays sets how many days of history the tenant keeps; 0: the installation's number.
func (t *Tenant) SetHistoryDays(ctx context.Context, days int) error {
	var own *int16
	if days != 0 {
		own = new(int16(days))
	}
	n, err := t.q.SetHistoryDays(ctx, own, t.id)
	return t.notifyChange(affectedError(n, err, "tenant"), "tenant", t.id)
}

// OldestHistory returns the time of the tenant's oldest call, run or change; zero: none.
func (t Lists) OldestHistory(ctx context.Context) (time.Time, error) {
	at, err := t.q.OldestHistory(ctx, t.id)
	if err != nil || at.Unix() == 0 {
		return time.Time{}, err
	}
	return at.UTC(), nil
}

// SweepBatch is one statement's part of a sweep.
type SweepBatch struct {
	Before time.Time // older rows are deleted
	After  []byte    // end of the previous batch; nil: first
	Max    int       // rows
}

// Swept is the result of a batch.
type Swept struct {
	Rows int    // deleted
	More bool   // more may remain
	Last []byte // SweepBatch.After of the next batch
}

// SweepHistory deletes a batch of old rows of a part of the history. It keeps calls that run, wait or are open
// tasks, each connector's newest run, each tool's newest changes and definitions in use. Processes may run it
// concurrently.
func (t *Tenant) SweepHistory(ctx context.Context, part connectors.HistoryPart, b SweepBatch) (Swept, error) {
	switch part {
	case connectors.PartCalls:
		return t.sweepCalls(ctx, b)
	case connectors.PartRuns:
		return t.sweepRuns(ctx, b)
	case connectors.PartHealth:
		return t.sweepHealth(ctx, b)
	case connectors.PartChanges:
		return t.sweepChanges(ctx, b)
	case connectors.PartDefinitions:
		return t.sweepDefinitions(ctx, b)
	default:
		n, err := t.q.SweepKeys(ctx, t.id, b.Before)
		return Swept{Rows: int(n)}, err
	}
}

func (t *tenant) sweepCalls(ctx context.Context, b SweepBatch) (Swept, error) {
	r, err := t.q.SweepCalls(ctx, dbgen.SweepCallsParams{TenantID: t.id, AfterID: b.afterID(), BeforeID: minIDAt(b.Before), MaxRows: int32(b.Max)})
	return Swept{Rows: int(r.Gone), More: int(r.Gone) >= b.Max, Last: r.Last[:]}, err
}

func (t *tenant) sweepRuns(ctx context.Context, b SweepBatch) (Swept, error) {
	r, err := t.q.SweepRuns(ctx, dbgen.SweepRunsParams{
		TenantID: t.id, AfterID: b.afterID(), BeforeID: minIDAt(b.Before), BeforeAt: b.Before, MaxRows: int32(b.Max),
	})
	return Swept{Rows: int(r.Gone), More: int(r.Seen) >= b.Max, Last: r.Last[:]}, err
}

// healthPage is the number of connectors per statement.
const healthPage = 100

// sweepHealth repeats with the same connectors until none of their hours is left.
func (t *tenant) sweepHealth(ctx context.Context, b SweepBatch) (Swept, error) {
	r, err := t.q.SweepHealth(ctx, dbgen.SweepHealthParams{
		TenantID: t.id, AfterID: b.afterID(), BeforeAt: b.Before, MaxRows: int32(b.Max), MaxConnectors: healthPage,
	})
	if int(r.Gone) >= b.Max {
		return Swept{Rows: int(r.Gone), More: true, Last: b.After}, err
	}
	return Swept{Rows: int(r.Gone), More: r.Seen >= healthPage, Last: r.Last[:]}, err
}

func (t *tenant) sweepChanges(ctx context.Context, b SweepBatch) (Swept, error) {
	r, err := t.q.SweepChanges(ctx, dbgen.SweepChangesParams{
		TenantID: t.id, AfterID: b.afterID(), BeforeID: minIDAt(b.Before), BeforeAt: b.Before, MaxRows: int32(b.Max),
	})
	return Swept{Rows: int(r.Gone), More: int(r.Seen) >= b.Max, Last: r.Last[:]}, err
}

// sweepDefinitions searches without a lock, which mostly finds nothing. Candidates are locked and searched
// again: only a statement that begins after the locks sees every tool and change that refers to them.
func (t *tenant) sweepDefinitions(ctx context.Context, b SweepBatch) (Swept, error) {
	unused, err := t.q.UnusedDefinitions(ctx, int32(b.Max), t.id, append([]byte{}, b.After...))
	if err != nil || len(unused) == 0 {
		return Swept{}, err
	}
	done := Swept{More: len(unused) >= b.Max, Last: unused[len(unused)-1]}
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		locked, err := tx.q.LockDefinitions(ctx, tx.id, unused, b.Before)
		if err != nil || len(locked) == 0 {
			return err
		}
		n, err := tx.q.DeleteDefinitions(ctx, tx.id, locked)
		done.Rows = int(n)
		return err
	})
	return done, err
}

// afterID decodes After for tables with ids.
func (b SweepBatch) afterID() (id uuid.UUID) {
	copy(id[:], b.After)
	return id
}
