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

// callsWindow is the time over which the calls of a changed tool are counted.
const callsWindow = 30 * 24 * time.Hour

// ChangeFilter says which changes of tools are listed.
type ChangeFilter struct {
	State     connectors.ChangeState  // empty: any
	Connector *connectors.ConnectorID // nil: any
	Page
}

func (f ChangeFilter) connector() *uuid.UUID {
	if f.Connector == nil {
		return nil
	}
	return &f.Connector.UUID
}

// ChangeMark is what of a change tells whether it is as it was.
type ChangeMark struct {
	ID      connectors.ToolChangeID
	State   connectors.ChangeState
	Decided time.Time // zero: not yet
}

// ChangeMarks are those of the first page of what Changes lists, and one more.
func (t *Tenant) ChangeMarks(ctx context.Context, f ChangeFilter) ([]ChangeMark, error) {
	rows, err := t.q.ChangeMarks(ctx, dbgen.ChangeMarksParams{TenantID: t.id, State: string(f.State), ConnectorID: f.connector(), MaxRows: f.rows()})
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

// Changes lists changes of tools, the newest first.
func (t *Tenant) Changes(ctx context.Context, f ChangeFilter) (List[connectors.ToolChange], error) {
	before, err := f.afterID("tool_changes")
	if err != nil {
		return List[connectors.ToolChange]{}, err
	}
	rows, err := t.q.Changes(ctx, dbgen.ChangesParams{
		TenantID: t.id, State: string(f.State), ConnectorID: f.connector(), BeforeID: before, MaxRows: f.rows(),
		CallsSince: idFrom(time.Now().Add(-callsWindow)),
	})
	if err != nil {
		return List[connectors.ToolChange]{}, err
	}
	return listOf(f.Page, rows, toolChangeOf, "tool_changes", changeAt), nil
}

// ToolChanges is the history of one tool, the newest first. Its first definition is no change.
func (t *Tenant) ToolChanges(ctx context.Context, id connectors.ConnectorID, tool string, p Page) (List[connectors.ToolChange], error) {
	before, err := p.afterID("changes")
	if err != nil {
		return List[connectors.ToolChange]{}, err
	}
	rows, err := t.q.ToolChanges(ctx, dbgen.ToolChangesParams{
		TenantID: t.id, ConnectorID: id, Tool: clean(tool), BeforeID: before, MaxRows: p.rows(),
		CallsSince: idFrom(time.Now().Add(-callsWindow)),
	})
	if err != nil {
		return List[connectors.ToolChange]{}, err
	}
	item := func(r dbgen.ToolChangesRow) connectors.ToolChange { return toolChangeOf(dbgen.ChangesRow(r)) }
	return listOf(p, rows, item, "changes", func(r dbgen.ToolChangesRow) []string { return []string{r.ID.String()} }), nil
}

// ToolChange is one change of a tool.
func (t *Tenant) ToolChange(
	ctx context.Context, connector connectors.ConnectorID, tool string, id connectors.ToolChangeID,
) (connectors.ToolChange, error) {
	rows, err := t.q.ToolChanges(ctx, dbgen.ToolChangesParams{
		TenantID: t.id, ConnectorID: connector, Tool: clean(tool), OneID: &id.UUID, MaxRows: 1,
		CallsSince: idFrom(time.Now().Add(-callsWindow)),
	})
	if err == nil && len(rows) == 0 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return connectors.ToolChange{}, found(err, "change")
	}
	return toolChangeOf(dbgen.ChangesRow(rows[0])), nil
}

// WaitingKinds are what is different in a tool whose definition waits; NotFound: it does not.
func (t *Tenant) WaitingKinds(ctx context.Context, id connectors.ConnectorID, tool string) ([]toolchange.Kind, error) {
	names, err := t.q.WaitingKinds(ctx, t.id, id, clean(tool))
	return kindsOf(names), found(err, "change")
}

// ToolsSyncedAt is when the connector's tools were read last, with success; zero: never.
func (t *Tenant) ToolsSyncedAt(ctx context.Context, id connectors.ConnectorID) (time.Time, error) {
	at, err := t.q.ToolsSyncedAt(ctx, t.id, id)
	if err != nil || at == nil {
		return time.Time{}, found(err, "connector")
	}
	return at.UTC(), nil
}

// OtherTools are tools of the tenant's other connectors that have one of the names; every: all, up to a bound, for finding names that
// are alike.
func (t *Tenant) OtherTools(ctx context.Context, id connectors.ConnectorID, names []string, every bool) ([]toolchange.Named, error) {
	rows, err := t.q.OtherTools(ctx, dbgen.OtherToolsParams{
		TenantID: t.id, ConnectorID: id, Names: cleanAll(names), Every: every, MaxRows: mostOtherTools,
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

// mostOtherTools bounds how many names a new tool is compared with.
const mostOtherTools = 5000

// writeChanges puts on record what a sync changes, in two statements. What waited of the same tools is superseded.
func (t *Tenant) writeChanges(ctx context.Context, q *dbgen.Queries, run dbgen.SyncRun, d connectors.ToolDiff) error {
	touched := make([]string, 0, len(d.Added)+len(d.Changed)+len(d.Removed))
	for _, w := range d.Added {
		if w.Returned { // a new one has no past
			touched = append(touched, w.Name)
		}
	}
	for _, w := range d.Changed {
		touched = append(touched, w.Name)
	}
	if d.Instructions != nil {
		touched = append(touched, connectors.OfInstructions)
	}
	if touched = append(touched, d.Removed...); len(touched) > 0 {
		if err := q.SupersedeChanges(ctx, t.id, run.ConnectorID, cleanAll(touched)); err != nil {
			return err
		}
	}
	if len(d.Changes) == 0 {
		return nil
	}
	return q.InsertChanges(ctx, t.changes(run.ConnectorID, run.ID, d.Changes))
}

func (t *Tenant) changes(id connectors.ConnectorID, run connectors.SyncRunID, changes []connectors.ChangeWrite) dbgen.InsertChangesParams {
	p := dbgen.InsertChangesParams{TenantID: t.id, ConnectorID: id, SyncRunID: &run.UUID}
	for _, c := range changes {
		p.Ids = append(p.Ids, newID())
		p.Tools = append(p.Tools, clean(c.Tool))
		p.BeforeHashes = append(p.BeforeHashes, hashBytes(c.Before))
		p.AfterHashes = append(p.AfterHashes, hashBytes(c.After))
		p.Kinds = append(p.Kinds, joinKinds(c.Kinds))
		p.Risks = append(p.Risks, string(c.Risk))
		p.States = append(p.States, string(c.State))
	}
	return p
}

// tellOfChanges tells the tenant's people that changes of a sync wait for them, all in one notice.
func (t *Tenant) tellOfChanges(ctx context.Context, id connectors.ConnectorID, d connectors.ToolDiff) error {
	waiting := d.Waiting()
	if len(waiting) == 0 {
		return nil
	}
	row, err := t.q.ConnectorName(ctx, t.id, id)
	if err != nil {
		return found(err, "connector")
	}
	return t.AddNotice(ctx, connectors.ToolChangeNotice(connectors.ConnectorName{ID: id, Slug: row.Slug, Name: row.Name}, waiting))
}

func joinKinds(kinds []toolchange.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ",")
}

// idFrom is the least id that is made at a time.
func idFrom(at time.Time) (id uuid.UUID) {
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id
}

func changeAt(r dbgen.ChangesRow) []string { return []string{r.ID.String()} }

func toolChangeOf(r dbgen.ChangesRow) connectors.ToolChange {
	c := connectors.ToolChange{
		ID: r.ID, ConnectorID: r.ConnectorID, ConnectorSlug: r.Slug, ConnectorName: r.ConnectorName, Tool: r.Tool,
		SeenAt: r.SeenAt.UTC(), Before: hashOf(r.BeforeHash), After: hashOf(r.AfterHash), Risk: toolchange.Risk(r.Risk), State: r.State,
		DecidedBy: r.DecidedBy, DecidedAt: utc(r.DecidedAt), Agents: int(r.Agents), Calls: int(r.Calls),
	}
	if r.SyncRunID != nil {
		c.SyncRunID = &connectors.SyncRunID{UUID: *r.SyncRunID}
	}
	c.Kinds = kindsOf(r.Kinds)
	return c
}

func kindsOf(names []string) (kinds []toolchange.Kind) {
	for _, name := range names {
		kinds = append(kinds, toolchange.Kind(name))
	}
	return kinds
}
