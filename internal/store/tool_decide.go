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
	Tool      string // or a skill's, see [connectors.SkillTool]
	Accept    bool
	Keep      bool             // the accepted definition stays in service
	Hash      *connectors.Hash // the definition that the person saw; nil: the current one
	By        string
}

// TypeToolChanged is the problem type of a decision about an outdated definition.
const TypeToolChanged = "tool-changed"

// Decide accepts the tool's or skill's current definition, which agents are then served, rejects it, which disables the
// tool, or keeps the accepted one in service. The decision can be changed later. It fails with Conflict if nothing
// waits, the definition has changed, or the accepted one may not stay in service.
func (t Tools) Decide(ctx context.Context, d ToolDecision) error {
	return t.ensureTx(ctx, func(tx *Tenant) error { return tx.notifyChange(tx.decideTool(ctx, d), "connector", d.Connector) })
}

func (t *tenant) decideTool(ctx context.Context, d ToolDecision) error {
	d.Tool = cleanText(d.Tool)
	if uri, isSkill := connectors.SkillOfTool(d.Tool); isSkill {
		return t.decideSkill(ctx, uri, d)
	}
	row, err := t.q.LockTool(ctx, t.id, d.Connector, d.Tool)
	if err != nil {
		return rowError(err, "tool")
	}
	if err := checkDecidable(row, d); err != nil {
		return err
	}
	var state connectors.ChangeState
	switch {
	case d.Keep:
		state, err = connectors.ChangeKept, t.keepTool(ctx, row, d)
	case d.Accept:
		state, err = connectors.ChangeAccepted, t.q.AcceptTool(ctx, t.id, d.Connector, d.Tool)
	default:
		state, err = connectors.ChangeRejected, t.q.RejectTool(ctx, t.id, d.Connector, d.Tool)
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
	case row.Review == connectors.ReviewRejected && !d.Accept && !d.Keep:
		return fault.Errorf(fault.Conflict, "The tool %q is already rejected.", d.Tool)
	case row.Review == connectors.ReviewKept && d.Keep:
		return fault.Errorf(fault.Conflict, "The tool %q already keeps its earlier version.", d.Tool)
	}
	return nil
}

// keepTool keeps the accepted definition in service if CanKeep allows it.
func (t *tenant) keepTool(ctx context.Context, row dbgen.LockToolRow, d ToolDecision) error {
	if row.AcceptedHash == nil {
		return fault.Errorf(fault.Conflict, "The tool %q has no accepted version to keep.", d.Tool)
	}
	kinds, err := t.q.KindsOfDefinition(ctx, dbgen.KindsOfDefinitionParams{TenantID: t.id, ConnectorID: d.Connector, Tool: d.Tool, Hash: row.CurrentHash})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if !connectors.CanKeep(toKinds(kinds)) {
		return fault.Errorf(fault.Conflict, "The accepted version of %q can't be kept: calls would reach a server that may be compromised, or a tool that does more than before.", d.Tool)
	}
	return t.q.SetAcceptedDefinition(ctx, dbgen.SetAcceptedDefinitionParams{
		TenantID: t.id, ConnectorID: d.Connector, Tool: d.Tool, AcceptedHash: row.AcceptedHash, Review: connectors.ReviewKept,
	})
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
