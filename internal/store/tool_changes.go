package store

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
	"patchbay/internal/toolchange"
)

// callsWindow is the period in which a changed tool's calls are counted.
const callsWindow = 30 * 24 * time.Hour

// ChangeFilter selects tool changes.
type ChangeFilter struct {
	State     connectors.ChangeState  // empty: any
	Connector *connectors.ConnectorID // nil: any
	Page
}

func (f ChangeFilter) connectorUUID() *uuid.UUID {
	if f.Connector == nil {
		return nil
	}
	return &f.Connector.UUID
}

// ChangeMark identifies a version of a change.
type ChangeMark struct {
	ID      connectors.ToolChangeID
	State   connectors.ChangeState
	Decided time.Time // zero: not yet
}

// ChangeMarks returns the marks of the first page of Changes and one more.
func (t Tools) ChangeMarks(ctx context.Context, f ChangeFilter) ([]ChangeMark, error) {
	rows, err := t.q.ChangeMarks(ctx, dbgen.ChangeMarksParams{TenantID: t.id, State: string(f.State), ConnectorID: f.connectorUUID(), MaxRows: f.rowLimit()})
	if err != nil {
		return nil, err
	}
	marks := make([]ChangeMark, len(rows))
	for i, r := range rows {
		marks[i] = ChangeMark{ID: r.ID, State: r.State}
		if r.DecidedAt != nil {
			marks[i].Decided = r.DecidedAt.UTC()
		}
	}
	return marks, nil
}

// Changes lists tool changes, newest first.
func (t Tools) Changes(ctx context.Context, f ChangeFilter) (List[connectors.ToolChange], error) {
	before, err := f.afterID("tool_changes")
	if err != nil {
		return List[connectors.ToolChange]{}, err
	}
	rows, err := t.q.Changes(ctx, dbgen.ChangesParams{
		TenantID: t.id, State: string(f.State), ConnectorID: f.connectorUUID(), BeforeID: before, MaxRows: f.rowLimit(),
		CallsSince: minIDAt(time.Now().Add(-callsWindow)),
	})
	if err != nil {
		return List[connectors.ToolChange]{}, err
	}
	return newList(f.Page, rows, toToolChange, "tool_changes", changePosition), nil
}

// ChangesOf lists one tool's changes, newest first. Its first definition is no change.
func (t Tools) ChangesOf(ctx context.Context, id connectors.ConnectorID, tool string, p Page) (List[connectors.ToolChange], error) {
	before, err := p.afterID("changes")
	if err != nil {
		return List[connectors.ToolChange]{}, err
	}
	rows, err := t.q.ToolChanges(ctx, dbgen.ToolChangesParams{
		TenantID: t.id, ConnectorID: id, Tool: cleanText(tool), BeforeID: before, MaxRows: p.rowLimit(),
		CallsSince: minIDAt(time.Now().Add(-callsWindow)),
	})
	if err != nil {
		return List[connectors.ToolChange]{}, err
	}
	item := func(r dbgen.ToolChangesRow) connectors.ToolChange { return toToolChange(dbgen.ChangesRow(r)) }
	return newList(p, rows, item, "changes", func(r dbgen.ToolChangesRow) []string { return []string{r.ID.String()} }), nil
}

// Change reads one change.
func (t Tools) Change(
	ctx context.Context, connector connectors.ConnectorID, tool string, id connectors.ToolChangeID,
) (connectors.ToolChange, error) {
	rows, err := t.q.ToolChanges(ctx, dbgen.ToolChangesParams{
		TenantID: t.id, ConnectorID: connector, Tool: cleanText(tool), OneID: &id.UUID, MaxRows: 1,
		CallsSince: minIDAt(time.Now().Add(-callsWindow)),
	})
	if err == nil && len(rows) == 0 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return connectors.ToolChange{}, rowError(err, "change")
	}
	return toToolChange(dbgen.ChangesRow(rows[0])), nil
}

// WaitingKinds returns the kinds of difference in a tool's waiting definition. It fails with NotFound if none
// waits.
func (t Tools) WaitingKinds(ctx context.Context, id connectors.ConnectorID, tool string) ([]toolchange.Kind, error) {
	names, err := t.q.WaitingKinds(ctx, t.id, id, cleanText(tool))
	return toKinds(names), rowError(err, "change")
}

// Risky returns the changes of high risk that brought one of the definitions, the newest of each tool, decided or not. Only
// what identifies a change and its kinds are filled in.
func (t Tools) Risky(ctx context.Context, hashes []connectors.Hash) ([]connectors.ToolChange, error) {
	rows, err := t.q.RiskyChanges(ctx, t.id, hashKeys(hashes))
	if err != nil {
		return nil, err
	}
	risky := make([]connectors.ToolChange, len(rows))
	for i, r := range rows {
		risky[i] = connectors.ToolChange{
			ConnectorID: r.ConnectorID, ConnectorSlug: r.Slug, ConnectorName: r.ConnectorName, Tool: r.Tool, After: toHash(r.AfterHash),
			Kinds: toKinds(r.Kinds), Risk: toolchange.High,
		}
	}
	return risky, nil
}

// SyncedAt returns the time of the connector's last successful sync; zero: never.
func (t Tools) SyncedAt(ctx context.Context, id connectors.ConnectorID) (time.Time, error) {
	at, err := t.q.ToolsSyncedAt(ctx, t.id, id)
	if err != nil || at == nil {
		return time.Time{}, rowError(err, "connector")
	}
	return at.UTC(), nil
}

// Others returns tools of the tenant's other connectors with one of the names. every: all up to a bound, to
// find similar names.
func (t Tools) Others(ctx context.Context, id connectors.ConnectorID, names []string, every bool) ([]toolchange.Named, error) {
	rows, err := t.q.OtherTools(ctx, dbgen.OtherToolsParams{
		TenantID: t.id, ConnectorID: id, Names: cleanAll(names), Every: every, MaxRows: maxOtherTools,
	})
	if err != nil {
		return nil, err
	}
	others := make([]toolchange.Named, len(rows))
	for i, r := range rows {
		others[i] = toolchange.Named{Connector: r.Slug, Tool: r.Name}
	}
	return others, nil
}

// maxOtherTools bounds the names that a new tool is compared with.
const maxOtherTools = 5000

// writeChanges stores a sync's tool changes in two statements. Waiting changes of the same tools are
// superseded.
func (t *tenant) writeChanges(ctx context.Context, q *dbgen.Queries, run dbgen.SyncRun, d connectors.ToolDiff) error {
	touched := make([]string, 0, len(d.Added)+len(d.Changed)+len(d.Removed))
	for _, w := range d.Added {
		if w.Returned { // a new one has no history
			touched = append(touched, w.Name)
		}
	}
	for _, w := range d.Changed {
		touched = append(touched, w.Name)
	}
	if d.Instructions != nil {
		touched = append(touched, connectors.InstructionsTool)
	}
	if touched = append(touched, d.Removed...); len(touched) > 0 {
		if err := q.SupersedeChanges(ctx, t.id, run.ConnectorID, cleanAll(touched)); err != nil {
			return err
		}
	}
	if len(d.Changes) == 0 {
		return nil
	}
	return q.InsertChanges(ctx, t.changeColumns(run.ConnectorID, run.ID, d.Changes))
}

func (t *tenant) changeColumns(id connectors.ConnectorID, run connectors.SyncRunID, changeColumns []connectors.ChangeWrite) dbgen.InsertChangesParams {
	p := dbgen.InsertChangesParams{TenantID: t.id, ConnectorID: id, SyncRunID: runUUID(run)}
	for _, c := range changeColumns {
		p.Ids = append(p.Ids, newID())
		p.Tools = append(p.Tools, cleanText(c.Tool))
		p.BeforeHashes = append(p.BeforeHashes, hashBytes(c.Before))
		p.AfterHashes = append(p.AfterHashes, hashBytes(c.After))
		p.Kinds = append(p.Kinds, joinKinds(c.Kinds))
		p.Risks = append(p.Risks, string(c.Risk))
		p.States = append(p.States, string(c.State))
	}
	return p
}

// runUUID returns nil for a sync without a row.
func runUUID(run connectors.SyncRunID) *uuid.UUID {
	if run == (connectors.SyncRunID{}) {
		return nil
	}
	return &run.UUID
}

// notifyOfChanges adds one notice for all changes of a sync that wait for review.
func (t *tenant) notifyOfChanges(ctx context.Context, id connectors.ConnectorID, d connectors.ToolDiff) error {
	waiting := d.Waiting()
	if len(waiting) == 0 {
		return nil
	}
	row, err := t.q.ConnectorName(ctx, t.id, id)
	if err != nil {
		return rowError(err, "connector")
	}
	return t.asTenant().People().AddNotice(ctx, connectors.ToolChangeNotice(connectors.ConnectorName{ID: id, Slug: row.Slug, Name: row.Name}, waiting))
}

func joinKinds(kinds []toolchange.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ",")
}

// minIDAt returns the lowest id of a millisecond.
func minIDAt(at time.Time) (id uuid.UUID) {
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id
}

func changePosition(r dbgen.ChangesRow) []string { return []string{r.ID.String()} }

func toToolChange(r dbgen.ChangesRow) connectors.ToolChange {
	c := connectors.ToolChange{
		ID: r.ID, ConnectorID: r.ConnectorID, ConnectorSlug: r.Slug, ConnectorName: r.ConnectorName, Tool: r.Tool,
		SeenAt: r.SeenAt.UTC(), Before: toHash(r.BeforeHash), After: toHash(r.AfterHash), Risk: toolchange.Risk(r.Risk), State: r.State,
		DecidedBy: r.DecidedBy, DecidedAt: toUTC(r.DecidedAt), Agents: int(r.Agents), Calls: int(r.Calls),
	}
	if r.SyncRunID != nil {
		c.SyncRunID = &connectors.SyncRunID{UUID: *r.SyncRunID}
	}
	c.Kinds = toKinds(r.Kinds)
	return c
}

func toKinds(names []string) (kinds []toolchange.Kind) {
	for _, name := range names {
		kinds = append(kinds, toolchange.Kind(name))
	}
	return kinds
}
