package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// Decision identifies one decision about a tool's change.
type Decision struct {
	Change    connectors.ToolChangeID
	DecidedAt time.Time
}

// DecidedTool is the newest change of a tool, decided by a person.
type DecidedTool struct {
	Decision
	Connector connectors.Ref // as it was named
	Tool      string
	State     connectors.ChangeState
	After     connectors.Hash
}

// Decided returns the newest changes of tools, where a person decided them; refs and tools are pairs.
func (t Tools) Decided(ctx context.Context, refs []connectors.Ref, tools []string) ([]DecidedTool, error) {
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = string(ref)
	}
	rows, err := t.q.DecisionMarks(ctx, cleanAll(names), cleanAll(tools), t.id)
	if err != nil {
		return nil, err
	}
	decided := make([]DecidedTool, len(rows))
	for i, r := range rows {
		decided[i] = DecidedTool{
			Decision: Decision{Change: r.ID, DecidedAt: r.DecidedAt.UTC()}, Connector: connectors.Ref(r.Connector), Tool: r.Tool, State: r.State, After: *toHash(r.AfterHash),
		}
	}
	return decided, nil
}

// Undo brings back the state before a decision: the change waits again, or has its earlier decision again, which is then by that person.
// It fails with Conflict if the change was decided again or the definition has changed.
func (t Tools) Undo(ctx context.Context, d Decision, by string) (undone connectors.ToolChange, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		undone, err = tx.undoDecision(ctx, d, by)
		return tx.notifyChange(err, "connector", undone.ConnectorID)
	})
	return undone, err
}

func (t *tenant) undoDecision(ctx context.Context, d Decision, by string) (connectors.ToolChange, error) {
	of, err := t.q.ToolOfChange(ctx, t.id, d.Change)
	if err != nil {
		return connectors.ToolChange{}, rowError(err, "change")
	}
	current, err := t.lockDefinition(ctx, of.ConnectorID, of.Tool)
	if err != nil {
		return connectors.ToolChange{}, err
	}
	history, err := Tools{t}.ChangesOf(ctx, of.ConnectorID, of.Tool, Page{Limit: 2})
	if err != nil {
		return connectors.ToolChange{}, err
	}
	last := history.Items[0]
	decided := last.State == connectors.ChangeAccepted || last.State == connectors.ChangeRejected || last.State == connectors.ChangeKept
	if last.ID != d.Change || !decided || !last.DecidedAt.Equal(d.DecidedAt) || last.After == nil || current == nil || *last.After != *current {
		return last, fault.Errorf(fault.Conflict, "The change was decided again, or the server changed it. Nothing was undone.").WithType(TypeToolChanged)
	}
	if isWithdrawal(last) || len(history.Items) > 1 && isWithdrawal(history.Items[1]) && isDecidedAgain(last, history.Items[1]) {
		return last, t.undoWithdrawal(ctx, last, by)
	}
	if len(history.Items) > 1 && isDecidedAgain(last, history.Items[1]) {
		return last, t.repeatDecision(ctx, last, history.Items[1].State, by)
	}
	if err := t.q.ReopenChange(ctx, t.id, last.ID); err != nil {
		return last, err
	}
	if last.Before == nil {
		return last, t.setServed(ctx, last, connectors.ReviewNew)
	}
	return last, t.setServed(ctx, last, connectors.ReviewChanged)
}

// lockDefinition locks a tool, a skill or the instructions, and returns the hash of the server's definition; nil: it has none any more.
func (t *tenant) lockDefinition(ctx context.Context, connector connectors.ConnectorID, tool string) (*connectors.Hash, error) {
	if tool == connectors.InstructionsTool {
		row, err := t.q.LockInstructions(ctx, t.id, connector)
		return new(connectors.InstructionsDefinition(row.ServerInstructions).Hash), rowError(err, "connector")
	}
	if uri, isSkill := connectors.SkillOfTool(tool); isSkill {
		row, err := t.q.LockSkill(ctx, t.id, connector, uri)
		if err != nil || row.Removed {
			return nil, rowError(err, "skill")
		}
		return toHash(row.CurrentHash), nil
	}
	row, err := t.q.LockTool(ctx, t.id, connector, tool)
	if err != nil || row.Removed {
		return nil, rowError(err, "tool")
	}
	return toHash(row.CurrentHash), nil
}

// isDecidedAgain reports whether a change repeats an earlier decision about the same definition.
func isDecidedAgain(last, earlier connectors.ToolChange) bool {
	sameSync := last.SyncRunID == nil && earlier.SyncRunID == nil || last.SyncRunID != nil && earlier.SyncRunID != nil && *last.SyncRunID == *earlier.SyncRunID
	return sameSync && earlier.After != nil && *earlier.After == *last.After && (earlier.State == connectors.ChangeRejected || earlier.State == connectors.ChangeKept)
}

// repeatDecision decides a change as it was decided before.
func (t *tenant) repeatDecision(ctx context.Context, last connectors.ToolChange, state connectors.ChangeState, by string) error {
	_, err := t.q.DecideChange(ctx, dbgen.DecideChangeParams{
		TenantID: t.id, ConnectorID: last.ConnectorID, Tool: last.Tool, State: state, DecidedBy: cleanText(by),
		ID: connectors.ToolChangeID{UUID: newID()}, Hash: last.After[:],
	})
	if err != nil {
		return rowError(err, "change")
	}
	if state == connectors.ChangeKept {
		return t.setServed(ctx, last, connectors.ReviewKept)
	}
	return t.setServed(ctx, last, connectors.ReviewRejected)
}

// setServed serves agents the definition before a change.
func (t *tenant) setServed(ctx context.Context, change connectors.ToolChange, review connectors.Review) error {
	if uri, isSkill := connectors.SkillOfTool(change.Tool); isSkill {
		return t.q.DecideSkill(ctx, dbgen.DecideSkillParams{TenantID: t.id, ConnectorID: change.ConnectorID, Uri: uri, AcceptedHash: hashBytes(change.Before), Review: review})
	}
	if change.Tool != connectors.InstructionsTool {
		return t.q.SetAcceptedDefinition(ctx, dbgen.SetAcceptedDefinitionParams{
			TenantID: t.id, ConnectorID: change.ConnectorID, Tool: change.Tool, AcceptedHash: hashBytes(change.Before), Review: review,
		})
	}
	text := ""
	if change.Before != nil {
		raws, err := Tools{t}.Definitions(ctx, []connectors.Hash{*change.Before})
		if err != nil {
			return err
		}
		if raws[*change.Before] == nil {
			return fault.Errorf(fault.Conflict, "The history no longer has this version.")
		}
		text = connectors.InstructionsIn(raws[*change.Before])
	}
	if review == connectors.ReviewNew { // instructions that follow none
		review = connectors.ReviewChanged
	}
	return t.q.RestoreInstructions(ctx, dbgen.RestoreInstructionsParams{AcceptedInstructions: &text, Review: review, TenantID: t.id, ID: change.ConnectorID})
}
