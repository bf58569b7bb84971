package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// KeepHistory says how many days of history the tenant keeps; 0: as many as the installation.
func (t *Tenant) KeepHistory(ctx context.Context, days int) error {
	var own *int16
	if days != 0 {
		own = new(int16(days))
	}
	n, err := t.q.SetHistoryDays(ctx, own, t.id)
	return t.says(touched(n, err, "tenant"), "tenant", t.id)
}

// OldestHistory is when the tenant's oldest call, sync run or change was; zero: there is none.
func (t *Tenant) OldestHistory(ctx context.Context) (time.Time, error) {
	at, err := t.q.OldestHistory(ctx, t.id)
	if err != nil || at.Unix() == 0 {
		return time.Time{}, err
	}
	return at.UTC(), nil
}

// SweepBatch is one statement's part of a sweep.
type SweepBatch struct {
	Before time.Time // what is older is forgotten
	After  []byte    // where the batch before ended; nil: this is the first
	Max    int       // rows
}

// Swept is what came of a batch.
type Swept struct {
	Rows int    // that are gone
	More bool   // there may be more of them
	Last []byte // to go on after
}

// SweepHistory forgets a batch of what is too old of a part of the tenant's history. What still says how things are stays: calls that run,
// wait or are open tasks, each connector's newest run, each tool's newest changes and the definitions that anything refers to. Any number
// of processes may do it at once.
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

func (t *Tenant) sweepCalls(ctx context.Context, b SweepBatch) (Swept, error) {
	r, err := t.q.SweepCalls(ctx, dbgen.SweepCallsParams{TenantID: t.id, AfterID: b.after(), BeforeID: idFrom(b.Before), MaxRows: int32(b.Max)})
	return Swept{Rows: int(r.Gone), More: int(r.Gone) >= b.Max, Last: r.Last[:]}, err
}

func (t *Tenant) sweepRuns(ctx context.Context, b SweepBatch) (Swept, error) {
	r, err := t.q.SweepRuns(ctx, dbgen.SweepRunsParams{
		TenantID: t.id, AfterID: b.after(), BeforeID: idFrom(b.Before), BeforeAt: b.Before, MaxRows: int32(b.Max),
	})
	return Swept{Rows: int(r.Gone), More: int(r.Seen) >= b.Max, Last: r.Last[:]}, err
}

// healthPage is how many connectors' hours one statement looks for.
const healthPage = 100

// sweepHealth goes on with the same connectors until nothing of theirs is left.
func (t *Tenant) sweepHealth(ctx context.Context, b SweepBatch) (Swept, error) {
	r, err := t.q.SweepHealth(ctx, dbgen.SweepHealthParams{
		TenantID: t.id, AfterID: b.after(), BeforeAt: b.Before, MaxRows: int32(b.Max), MaxConnectors: healthPage,
	})
	if int(r.Gone) >= b.Max {
		return Swept{Rows: int(r.Gone), More: true, Last: b.After}, err
	}
	return Swept{Rows: int(r.Gone), More: r.Seen >= healthPage, Last: r.Last[:]}, err
}

func (t *Tenant) sweepChanges(ctx context.Context, b SweepBatch) (Swept, error) {
	r, err := t.q.SweepChanges(ctx, dbgen.SweepChangesParams{
		TenantID: t.id, AfterID: b.after(), BeforeID: idFrom(b.Before), BeforeAt: b.Before, MaxRows: int32(b.Max),
	})
	return Swept{Rows: int(r.Gone), More: int(r.Seen) >= b.Max, Last: r.Last[:]}, err
}

// sweepDefinitions looks without a lock, which is nearly always the end of it. What nothing has is locked and then looked at again: only a
// statement that begins when the locks are there sees every tool and change that refers to it.
func (t *Tenant) sweepDefinitions(ctx context.Context, b SweepBatch) (Swept, error) {
	unused, err := t.q.UnusedDefinitions(ctx, int32(b.Max), t.id, append([]byte{}, b.After...))
	if err != nil || len(unused) == 0 {
		return Swept{}, err
	}
	done := Swept{More: len(unused) >= b.Max, Last: unused[len(unused)-1]}
	err = t.within(ctx, func(tx *Tenant) error {
		locked, err := tx.q.LockDefinitions(ctx, tx.id, unused, b.Before)
		if err != nil || len(locked) == 0 {
			return err
		}
		n, err := tx.q.DropDefinitions(ctx, tx.id, locked)
		done.Rows = int(n)
		return err
	})
	return done, err
}

// after is where to go on in a table whose rows have ids.
func (b SweepBatch) after() (id uuid.UUID) {
	copy(id[:], b.After)
	return id
}
