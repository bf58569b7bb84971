package store

import (
	"context"
	"errors"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// ErrOutdated means that a decision, another sync or a new policy came between the comparison of a list and its storage: nothing
// was written, and the list has to be compared again.
var ErrOutdated = errors.New("store: the state that a list was compared with has changed")

// checkComparedTools fails with ErrOutdated if the state changed since the comparison. The connector is locked, as it is by every decision.
func (t *tenant) checkComparedTools(ctx context.Context, id connectors.ConnectorID, d connectors.ToolDiff) error {
	writes := slices.Concat(d.Added, d.Changed)
	if d.Policy == "" || len(writes) == 0 && d.Instructions == nil {
		return nil
	}
	var known dbgen.ConnectorBaseRow
	var outdated int64
	base := t.baseColumns(id, writes)
	err := t.scope.runReadBatch(ctx,
		func(q *dbgen.Queries) (err error) { known, err = q.ConnectorBase(ctx, t.id, id); return err },
		func(q *dbgen.Queries) (err error) { outdated, err = q.CountOutdatedTools(ctx, base); return err },
	)
	if err != nil {
		return rowError(err, "connector")
	}
	if w := d.Instructions; w != nil && w.Base != toInstructions(known.ServerInstructions, known.AcceptedInstructions, known.InstructionsReview) {
		return ErrOutdated
	}
	return checkCompared(d, known.ToolChanges, outdated)
}

// checkComparedSkills is checkComparedTools for skills.
func (t *tenant) checkComparedSkills(ctx context.Context, id connectors.ConnectorID, d connectors.ToolDiff) error {
	writes := slices.Concat(d.Added, d.Changed)
	if d.Policy == "" || len(writes) == 0 {
		return nil
	}
	var known dbgen.ConnectorBaseRow
	var outdated int64
	base := t.baseColumns(id, writes)
	err := t.scope.runReadBatch(ctx,
		func(q *dbgen.Queries) (err error) { known, err = q.ConnectorBase(ctx, t.id, id); return err },
		func(q *dbgen.Queries) (err error) {
			outdated, err = q.CountOutdatedSkills(ctx, dbgen.CountOutdatedSkillsParams{
				TenantID: t.id, ConnectorID: id, Uris: skillURIs(base.Names), CurrentHashes: base.CurrentHashes, AcceptedHashes: base.AcceptedHashes, Reviews: base.Reviews,
			})
			return err
		},
	)
	if err != nil {
		return rowError(err, "connector")
	}
	return checkCompared(d, known.ToolChanges, outdated)
}

func checkCompared(d connectors.ToolDiff, policy connectors.ToolChangePolicy, outdated int64) error {
	if outdated > 0 || d.Policy != policy {
		return ErrOutdated
	}
	return nil
}

// baseColumns returns the states that the writes replace; without a hash and a review for what was not known.
func (t *tenant) baseColumns(id connectors.ConnectorID, writes []connectors.ToolWrite) dbgen.CountOutdatedToolsParams {
	p := dbgen.CountOutdatedToolsParams{TenantID: t.id, ConnectorID: id}
	for i := range writes {
		var current, accepted []byte
		var review string
		if base := writes[i].Base; base != nil {
			current, accepted, review = base.Current[:], hashBytes(base.Accepted), string(base.Review)
		}
		p.Names, p.Reviews = append(p.Names, cleanText(writes[i].Name)), append(p.Reviews, review)
		p.CurrentHashes, p.AcceptedHashes = append(p.CurrentHashes, current), append(p.AcceptedHashes, accepted)
	}
	return p
}
