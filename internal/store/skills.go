package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
	"patchbay/internal/toolchange"
)

// MaxRemovedSkills bounds the removed skills of a connector that are known. A deleted one is new when the server lists it again,
// and only the scheme skill still withholds its files.
const MaxRemovedSkills = 1000

// SkillBaseline is what a list of skills is compared with.
type SkillBaseline struct {
	Policy connectors.ToolChangePolicy
	Skills []connectors.ToolState // by the names of [connectors.SkillTool]; removed ones too
}

// Baseline reads the known skills of a connector.
func (t Skills) Baseline(ctx context.Context, id connectors.ConnectorID) (SkillBaseline, error) {
	var known dbgen.ConnectorBaseRow
	var rows []dbgen.SkillStatesRow
	err := t.scope.runReadBatch(ctx,
		func(q *dbgen.Queries) (err error) { known, err = q.ConnectorBase(ctx, t.id, id); return err },
		func(q *dbgen.Queries) (err error) { rows, err = q.SkillStates(ctx, t.id, id); return err },
	)
	return SkillBaseline{Policy: known.ToolChanges, Skills: mapRows(rows, toSkillState)}, rowError(err, "connector")
}

func toSkillState(r dbgen.SkillStatesRow) connectors.ToolState {
	return connectors.ToolState{
		Name: connectors.SkillTool(r.Uri), Current: *toHash(r.CurrentHash), Accepted: toHash(r.AcceptedHash), Review: r.Review, Removed: r.Removed,
	}
}

// SkillWrite is what a sync found of a connector's skills.
type SkillWrite struct {
	Run         connectors.SyncRunID // zero: it has no row
	Hash        *connectors.Hash     // of the list; nil: no skills
	Diff        connectors.ToolDiff
	Definitions []connectors.Definition
	Withheld    []string // URIs of entries that are not served
}

// Save writes the differences of a list of skills, with their changes and a notice of those that wait. With ErrOutdated nothing is
// written.
func (t Skills) Save(ctx context.Context, id connectors.ConnectorID, w SkillWrite) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.SetSkillsHash(ctx, hashBytes(w.Hash), tx.id, id) // locks the connector
		if err := affectedError(n, err, "connector"); err != nil {
			return err
		}
		if err := tx.checkComparedSkills(ctx, id, w.Diff); err != nil {
			return err
		}
		if err := tx.scope.runPipeline(ctx, func(q *dbgen.Queries) error { return tx.writeSkills(ctx, q, id, w) }); err != nil {
			return err
		}
		return tx.notifyChange(tx.notifyOfChanges(ctx, id, w.Diff), "connector", id)
	})
}

func (t *tenant) writeSkills(ctx context.Context, q *dbgen.Queries, id connectors.ConnectorID, w SkillWrite) error {
	writes := slices.Concat(w.Diff.Added, w.Diff.Changed)
	if defs := neededDefinitions(writes, SyncResult{Definitions: w.Definitions}); len(defs) > 0 {
		if err := q.InsertDefinitions(ctx, t.definitionColumns(defs)); err != nil {
			return err
		}
	}
	if len(writes) > 0 {
		columns := t.toolColumns(id, writes)
		if err := q.WriteSkills(ctx, dbgen.WriteSkillsParams{
			TenantID: t.id, ConnectorID: id, Uris: skillURIs(columns.Names), CurrentHashes: columns.CurrentHashes, AcceptedHashes: columns.AcceptedHashes,
			Reviews: columns.Reviews,
		}); err != nil {
			return err
		}
	}
	if len(w.Diff.Removed) > 0 {
		if err := q.RemoveSkills(ctx, t.id, id, skillURIs(w.Diff.Removed)); err != nil {
			return err
		}
	}
	withheld := cleanAll(w.Withheld)
	if len(withheld) > 0 {
		if err := q.WithholdSkills(ctx, t.id, id, withheld); err != nil {
			return err
		}
	}
	if err := q.DeleteOldRemovedSkills(ctx, dbgen.DeleteOldRemovedSkillsParams{TenantID: t.id, ConnectorID: id, Uris: withheld, Kept: MaxRemovedSkills}); err != nil {
		return err
	}
	return t.writeChanges(ctx, q, dbgen.SyncRun{ID: w.Run, ConnectorID: id}, w.Diff)
}

func skillURIs(names []string) []string {
	uris := make([]string, len(names))
	for i, name := range names {
		uris[i], _ = connectors.SkillOfTool(name)
	}
	return uris
}

// List returns the skills that the server lists, by URI.
func (t Skills) List(ctx context.Context, id connectors.ConnectorID) ([]connectors.Skill, error) {
	rows, err := t.q.Skills(ctx, t.id, id, "")
	return mapRows(rows, toSkill), err
}

// Get returns a skill, removed or not.
func (t Skills) Get(ctx context.Context, id connectors.ConnectorID, uri string) (connectors.Skill, error) {
	rows, err := t.q.Skills(ctx, t.id, id, cleanText(uri))
	if err == nil && (len(rows) == 0 || uri == "") {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return connectors.Skill{}, rowError(err, "skill")
	}
	return toSkill(rows[0]), nil
}

func toSkill(r dbgen.SkillsRow) connectors.Skill {
	name := connectors.SkillTool(r.Uri)
	s := connectors.Skill{
		URI: r.Uri, Current: connectors.Definition{Name: name, Raw: r.CurrentRaw, Hash: *toHash(r.CurrentHash)}, Review: r.Review,
		FirstSeenAt: r.FirstSeenAt.UTC(), ChangedAt: r.ChangedAt.UTC(), RemovedAt: toUTC(r.RemovedAt),
	}
	if r.AcceptedHash != nil {
		s.Accepted = &connectors.Definition{Name: name, Raw: r.AcceptedRaw, Hash: *toHash(r.AcceptedHash)}
	}
	return s
}

// decideSkill accepts a skill's current definition or rejects it in favour of the one accepted before, if there is one. To keep that
// one is the same. To reject the accepted one withdraws it.
func (t *tenant) decideSkill(ctx context.Context, uri string, d ToolDecision) error {
	row, err := t.q.LockSkill(ctx, t.id, d.Connector, uri)
	if err != nil {
		return rowError(err, "skill")
	}
	switch {
	case row.Removed:
		return fault.Errorf(fault.Conflict, "The server no longer lists this skill.").WithType(TypeToolChanged)
	case withdrawsSkill(row, d):
		return t.withdrawSkill(ctx, uri, row, d)
	case d.Hash != nil && *d.Hash != *toHash(row.CurrentHash):
		return fault.Errorf(fault.Conflict, "The skill changed again. Review the latest version.").WithType(TypeToolChanged)
	case row.Review == connectors.ReviewAccepted:
		return fault.Errorf(fault.Conflict, "The skill matches the accepted version.")
	case row.Review == connectors.ReviewRejected && !d.Accept:
		return fault.Errorf(fault.Conflict, "The skill is already rejected.")
	}
	decided := dbgen.DecideSkillParams{TenantID: t.id, ConnectorID: d.Connector, Uri: uri, AcceptedHash: row.AcceptedHash, Review: connectors.ReviewRejected}
	state := connectors.ChangeRejected
	if d.Accept {
		decided.AcceptedHash, decided.Review, state = row.CurrentHash, connectors.ReviewAccepted, connectors.ChangeAccepted
	}
	if err := t.q.DecideSkill(ctx, decided); err != nil {
		return err
	}
	_, err = t.q.DecideChange(ctx, dbgen.DecideChangeParams{
		TenantID: t.id, ConnectorID: d.Connector, Tool: d.Tool, State: state, DecidedBy: cleanText(d.By),
		ID: connectors.ToolChangeID{UUID: newID()}, Hash: row.CurrentHash,
	})
	if errors.Is(err, pgx.ErrNoRows) { // the history ended
		return nil
	}
	return err
}

// withdrawsSkill reports whether a decision rejects the version that agents get. If the server lists another one, which was
// rejected, the decision names it.
func withdrawsSkill(row dbgen.LockSkillRow, d ToolDecision) bool {
	if d.Accept || d.Keep || row.AcceptedHash == nil {
		return false
	}
	named := d.Hash != nil && *d.Hash == *toHash(row.AcceptedHash)
	return row.Review == connectors.ReviewAccepted && (named || d.Hash == nil) || row.Review == connectors.ReviewRejected && named
}

// withdrawSkill ends that agents get a skill. The change has the version twice, see isWithdrawal.
func (t *tenant) withdrawSkill(ctx context.Context, uri string, row dbgen.LockSkillRow, d ToolDecision) error {
	err := t.q.InsertDecidedChange(ctx, dbgen.InsertDecidedChangeParams{
		TenantID: t.id, ID: connectors.ToolChangeID{UUID: newID()}, ConnectorID: d.Connector, Tool: d.Tool,
		BeforeHash: row.AcceptedHash, AfterHash: row.AcceptedHash, Kinds: []string{string(toolchange.NewSkill)}, Risk: string(toolchange.High),
		State: connectors.ChangeRejected, DecidedBy: cleanText(d.By),
	})
	if err != nil {
		return err
	}
	return t.q.DecideSkill(ctx, dbgen.DecideSkillParams{TenantID: t.id, ConnectorID: d.Connector, Uri: uri, Review: connectors.ReviewRejected})
}

// isWithdrawal reports whether a change is that of an accepted skill that a person rejected, or accepted again then.
func isWithdrawal(c connectors.ToolChange) bool {
	_, isSkill := connectors.SkillOfTool(c.Tool)
	return isSkill && c.Before != nil && c.After != nil && *c.Before == *c.After
}

// undoWithdrawal serves agents a withdrawn skill again, or withdraws it again.
func (t *tenant) undoWithdrawal(ctx context.Context, last connectors.ToolChange, by string) error {
	uri, _ := connectors.SkillOfTool(last.Tool)
	decided := dbgen.DecideSkillParams{TenantID: t.id, ConnectorID: last.ConnectorID, Uri: uri, Review: connectors.ReviewRejected}
	state := connectors.ChangeRejected
	if last.State == connectors.ChangeRejected && isWithdrawal(last) {
		decided.AcceptedHash, decided.Review, state = last.After[:], connectors.ReviewAccepted, connectors.ChangeAccepted
	}
	_, err := t.q.DecideChange(ctx, dbgen.DecideChangeParams{
		TenantID: t.id, ConnectorID: last.ConnectorID, Tool: last.Tool, State: state, DecidedBy: cleanText(by),
		ID: connectors.ToolChangeID{UUID: newID()}, Hash: last.After[:],
	})
	if err != nil {
		return rowError(err, "change")
	}
	return t.q.DecideSkill(ctx, decided)
}

// restoreSkill serves agents an earlier definition of a skill. They get a file while the server has it with that digest.
func (t *tenant) restoreSkill(ctx context.Context, uri string, r ToolRestoration) error {
	row, err := t.q.LockSkill(ctx, t.id, r.Connector, uri)
	if err != nil {
		return rowError(err, "skill")
	}
	switch {
	case row.Removed:
		return fault.Errorf(fault.Conflict, "The server no longer lists this skill.").WithType(TypeToolChanged)
	case *toHash(row.CurrentHash) != r.Current:
		return fault.Errorf(fault.Conflict, "The skill changed again. Review the latest version.").WithType(TypeToolChanged)
	case row.AcceptedHash != nil && *toHash(row.AcceptedHash) == r.Hash, r.Current == r.Hash:
		return fault.Errorf(fault.Conflict, "Agents already get this version of the skill.")
	}
	if err := t.recordRestoration(ctx, r, connectors.ChangeRejected); err != nil {
		return err
	}
	return t.q.DecideSkill(ctx, dbgen.DecideSkillParams{TenantID: t.id, ConnectorID: r.Connector, Uri: uri, AcceptedHash: r.Hash[:], Review: connectors.ReviewRejected})
}
