package store

import (
	"context"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// DecideInstructions accepts what a connector's server says of itself now, which agents are then given, or rejects it: then they are given
// what was accepted before. The decision's tool is not looked at. Conflict: nothing waits, or the server says something else by now.
func (t *Tenant) DecideInstructions(ctx context.Context, d ToolDecision) error {
	return t.within(ctx, func(tx *Tenant) error { return tx.says(tx.decideInstructions(ctx, d), "connector", d.Connector) })
}

func (t *Tenant) decideInstructions(ctx context.Context, d ToolDecision) error {
	row, err := t.q.LockInstructions(ctx, t.id, d.Connector)
	if err != nil {
		return found(err, "connector")
	}
	now := connectors.InstructionsDefinition(row.ServerInstructions).Hash
	switch {
	case d.Hash != nil && *d.Hash != now:
		return fault.Errorf(fault.Conflict, "The server has changed its instructions again. Look at what it says now.").WithType(TypeToolChanged)
	case row.InstructionsReview == connectors.ReviewAccepted:
		return fault.Errorf(fault.Conflict, "The server's instructions are as they were accepted. There is nothing to decide.")
	case row.InstructionsReview == connectors.ReviewRejected && !d.Accept:
		return fault.Errorf(fault.Conflict, "The server's instructions are rejected already.")
	}
	state := connectors.ChangeAccepted
	if d.Accept {
		err = t.q.AcceptInstructions(ctx, t.id, d.Connector)
	} else {
		state = connectors.ChangeRejected
		err = t.q.RejectInstructions(ctx, t.id, d.Connector)
	}
	if err != nil {
		return err
	}
	_, err = t.q.DecideChange(ctx, dbgen.DecideChangeParams{
		TenantID: t.id, ConnectorID: d.Connector, Tool: connectors.OfInstructions, State: state, DecidedBy: clean(d.By),
		ID: connectors.ToolChangeID{UUID: newID()}, Hash: now[:],
	})
	return found(err, "change")
}

// acceptCosmeticInstructions accepts the waiting ones of no risk, of connectors that are locked.
func (t *Tenant) acceptCosmeticInstructions(ctx context.Context, by string, ids []uuid.UUID) (accepted []ToolName, err error) {
	rows, err := t.q.AcceptCosmeticInstructions(ctx, t.id, clean(by), ids)
	for _, id := range rows {
		accepted = append(accepted, ToolName{Connector: id, Tool: connectors.OfInstructions})
	}
	return accepted, err
}

func instructionsOf(current string, held *string, review connectors.Review) connectors.Instructions {
	i := connectors.Instructions{Current: current, Accepted: current, Review: review}
	if held != nil {
		i.Accepted = *held
	}
	return i
}
