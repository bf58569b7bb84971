package store

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// ToolDecision is a person's decision about a tool's current definition.
type ToolDecision struct {
	Connector connectors.ConnectorID
	Tool      string
	Accept    bool
	Hash      *connectors.Hash // the definition that the person saw; nil: the current one
	By        string
}

// TypeToolChanged is the problem type of a decision about an outdated definition.
const TypeToolChanged = "tool-changed"

// Decide accepts the tool's current definition, which agents are then served, or rejects it, which disables
// the tool. A rejected definition can be accepted later. It fails with Conflict if nothing waits or the
// definition has changed.
func (t Tools) Decide(ctx context.Context, d ToolDecision) error {
	return t.ensureTx(ctx, func(tx *Tenant) error { return tx.notifyChange(tx.decideTool(ctx, d), "connector", d.Connector) })
}

func (t *tenant) decideTool(ctx context.Context, d ToolDecision) error {
	d.Tool = cleanText(d.Tool)
	row, err := t.q.LockTool(ctx, t.id, d.Connector, d.Tool)
	if err != nil {
		return rowError(err, "tool")
	}
	if err := checkDecidable(row, d); err != nil {
		return err
	}
	state := connectors.ChangeAccepted
	if d.Accept {
		err = t.q.AcceptTool(ctx, t.id, d.Connector, d.Tool)
	} else {
		state = connectors.ChangeRejected
		err = t.q.RejectTool(ctx, t.id, d.Connector, d.Tool)
	}
	if err != nil {
		return err
	}
	_, err = t.q.DecideChange(ctx, dbgen.DecideChangeParams{
		TenantID: t.id, ConnectorID: d.Connector, Tool: d.Tool, State: state, DecidedBy: cleanText(d.By),
		ID: connectors.ToolChangeID{UUID: newID()}, Hash: row.CurrentHash,
	})
	if errors.Is(err, pgx.ErrNoRows) { // a first sync's definition, rejected before changes were stored
		return nil
	}
	return err
}

// checkDecidable fails if there is nothing to decide.
func checkDecidable(row dbgen.LockToolRow, d ToolDecision) error {
	switch {
	case row.Removed:
		return fault.Errorf(fault.Conflict, "The server no longer lists the tool %q.", d.Tool).WithType(TypeToolChanged)
	case d.Hash != nil && *d.Hash != *toHash(row.CurrentHash):
		return fault.Errorf(fault.Conflict, "The tool %q changed again. Review the latest version.", d.Tool).WithType(TypeToolChanged)
	case row.Review == connectors.ReviewAccepted:
		return fault.Errorf(fault.Conflict, "The tool %q matches the accepted version.", d.Tool)
	case row.Review == connectors.ReviewRejected && !d.Accept:
		return fault.Errorf(fault.Conflict, "The tool %q is already rejected.", d.Tool)
	}
	return nil
}

// ToolName is a tool of a connector, or its instructions.
type ToolName struct {
	Connector connectors.ConnectorID
	Tool      string
}

// AcceptCosmetic accepts all waiting changes without risk, and returns their tools.
func (t Tools) AcceptCosmetic(ctx context.Context, by string) (accepted []ToolName, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		locked, err := tx.q.LockCosmetic(ctx, tx.id)
		if err != nil || len(locked) == 0 {
			return err
		}
		ids := make([]uuid.UUID, len(locked))
		for i, id := range locked {
			ids[i] = id.UUID
		}
		rows, err := tx.q.AcceptCosmetic(ctx, tx.id, cleanText(by), ids)
		for _, r := range rows {
			accepted = append(accepted, ToolName{Connector: r.ConnectorID, Tool: r.Name})
		}
		if err != nil {
			return err
		}
		instructions, err := tx.acceptCosmeticInstructions(ctx, by, ids)
		accepted = append(accepted, instructions...)
		for _, of := range accepted {
			err = tx.notifyChange(err, "connector", of.Connector)
		}
		return err
	})
	return accepted, err
}
