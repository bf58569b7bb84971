package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// TypeSyncTaken is the problem type of a queued run that is queued no more: somebody else has begun or ended it.
const TypeSyncTaken = "sync-taken"

// SyncRuns lists a connector's sync runs, newest first.
func (t *Tenant) SyncRuns(ctx context.Context, id connectors.ConnectorID, p Page) (List[connectors.SyncRun], error) {
	before, err := p.afterID("sync_runs")
	if err != nil {
		return List[connectors.SyncRun]{}, err
	}
	rows, err := t.q.SyncRuns(ctx, dbgen.SyncRunsParams{TenantID: t.id, ConnectorID: id, BeforeID: before, MaxRows: p.rows()})
	if err != nil {
		return List[connectors.SyncRun]{}, err
	}
	item := func(r dbgen.SyncRunsRow) connectors.SyncRun { return repeatedRunOf(dbgen.SyncRunRow(r)) }
	return listOf(p, rows, item, "sync_runs", func(r dbgen.SyncRunsRow) []string { return []string{r.SyncRun.ID.String()} }), nil
}

// SyncRun is one sync run.
func (t *Tenant) SyncRun(ctx context.Context, id connectors.SyncRunID) (connectors.SyncRun, error) {
	row, err := t.q.SyncRun(ctx, t.id, id)
	if err != nil {
		return connectors.SyncRun{}, found(err, "sync run")
	}
	return repeatedRunOf(row), nil
}

// StartSync begins a run: a new one, or the queued one s.Run. Where another run of the connector is under way it is a
// Conflict of type [TypeSyncRunning]; a run whose process is dead does not count and is closed. A queued run that is queued no
// more is a Conflict of type [TypeSyncTaken].
func (t *Tenant) StartSync(ctx context.Context, s StartSync) (connectors.SyncRun, error) {
	connector := s.ConnectorID
	if s.Run != nil {
		queued, err := t.SyncRun(ctx, *s.Run)
		if err != nil {
			return connectors.SyncRun{}, err
		}
		if queued.State != connectors.SyncQueued {
			return connectors.SyncRun{}, errTaken()
		}
		connector = queued.ConnectorID
	}
	row, err := t.startRun(ctx, s)
	if errors.Is(err, pgx.ErrNoRows) {
		// Only now look whether the other run's process lives: the usual start is one statement.
		closed, closeErr := t.q.CloseOrphanedRuns(ctx, t.id, connector, &s.Instance)
		switch {
		case closeErr != nil:
			return connectors.SyncRun{}, closeErr
		case closed == 0 && s.Run == nil:
			return connectors.SyncRun{}, t.whyTaken(ctx, connector)
		}
		row, err = t.startRun(ctx, s)
	}
	switch {
	case err == nil:
		return syncRunOf(row), nil
	case !errors.Is(err, pgx.ErrNoRows):
		return connectors.SyncRun{}, err
	case s.Run != nil:
		return connectors.SyncRun{}, t.whyNotStarted(ctx, *s.Run)
	}
	return connectors.SyncRun{}, errRunning()
}

func (t *Tenant) startRun(ctx context.Context, s StartSync) (row dbgen.SyncRun, err error) {
	if s.Run == nil {
		return t.startNewRun(ctx, s)
	}
	err = t.within(ctx, func(tx *Tenant) error { // without a row the claim must not stand
		row, err = tx.q.StartQueuedRun(ctx, s.Instance.UUID, tx.id, *s.Run)
		return err
	})
	return row, err
}

// startNewRun begins a run that nobody has queued. Where somebody asked for it, that stands in the audit log, or it does not begin.
func (t *Tenant) startNewRun(ctx context.Context, s StartSync) (row dbgen.SyncRun, err error) {
	p := dbgen.StartRunParams{
		TenantID:    t.id,
		ID:          connectors.SyncRunID{UUID: newID()},
		ConnectorID: s.ConnectorID,
		AgentID:     s.AgentID,
		Trigger:     s.Trigger,
		InstanceID:  s.Instance.UUID,
	}
	if s.Asked == nil {
		return t.q.StartRun(ctx, p)
	}
	err = t.within(ctx, func(tx *Tenant) error {
		if row, err = tx.q.StartRun(ctx, p); err != nil {
			return err
		}
		return tx.recordSync(ctx, s.Asked, syncRunOf(row))
	})
	return row, err
}

// whyTaken tells a connector that somebody is at from one that is gone.
func (t *Tenant) whyTaken(ctx context.Context, id connectors.ConnectorID) error {
	if _, err := t.q.Claim(ctx, t.id, id); err != nil {
		return found(err, "connector")
	}
	return errRunning()
}

// whyNotStarted tells a queued run that waits for another one from a queued run that somebody has taken.
func (t *Tenant) whyNotStarted(ctx context.Context, id connectors.SyncRunID) error {
	run, err := t.SyncRun(ctx, id)
	switch {
	case err != nil:
		return err
	case run.State == connectors.SyncQueued:
		return errRunning()
	}
	return errTaken()
}

func errRunning() error {
	return fault.Errorf(fault.Conflict, "A sync is already running.").WithType(TypeSyncRunning)
}

func errTaken() error {
	return fault.Errorf(fault.Conflict, "This sync has begun already.").WithType(TypeSyncTaken)
}

// repeatedRunOf is a run with its repetitions, which stand in the clock while it is the newest.
func repeatedRunOf(r dbgen.SyncRunRow) connectors.SyncRun {
	run := syncRunOf(r.SyncRun)
	if r.Checks > 0 {
		run.Repeats, run.RepeatedAt = int(r.Checks), utc(r.CheckedAt)
	}
	return run
}

func syncRunOf(r dbgen.SyncRun) connectors.SyncRun {
	return connectors.SyncRun{
		Repeats:     int(r.Repeats),
		RepeatedAt:  utc(r.RepeatedAt),
		ID:          r.ID,
		ConnectorID: r.ConnectorID,
		AgentID:     r.AgentID,
		Trigger:     r.Trigger,
		State:       r.State,
		QueuedAt:    r.QueuedAt.UTC(),
		StartedAt:   utc(r.StartedAt),
		FinishedAt:  utc(r.FinishedAt),
		Counts: connectors.SyncCounts{
			Total:       int(r.ToolsTotal),
			Added:       int(r.ToolsAdded),
			Changed:     int(r.ToolsChanged),
			Removed:     int(r.ToolsRemoved),
			Quarantined: int(r.ToolsQuarantined),
		},
		ProtocolVersion: r.ProtocolVersion,
		ErrorCode:       text(r.ErrorCode),
		ErrorMessage:    text(r.ErrorMessage),
	}
}
