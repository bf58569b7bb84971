package store

import (
	"context"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// DecideInstructions accepts a server's current instructions or rejects them in favour of those accepted
// before. The decision's tool is ignored. It fails with Conflict if nothing waits or the instructions have
// changed.
func (t Tools) DecideInstructions(ctx context.Context, d ToolDecision) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		return tx.notifyChange(tx.decideInstructions(ctx, d), "connector", d.Connector)
	})
}

func (t *tenant) decideInstructions(ctx context.Context, d ToolDecision) error {
	row, err := t.q.LockInstructions(ctx, t.id, d.Connector)
	if err != nil {
		return rowError(err, "connector")
	}
	now := connectors.InstructionsDefinition(row.ServerInstructions).Hash
	switch {
	case d.Hash != nil && *d.Hash != now:
		return fault.Errorf(fault.Conflict, "The server's instructions changed again. Review the latest version.").WithType(TypeToolChanged)
	case row.InstructionsReview == connectors.ReviewAccepted:
		return fault.Errorf(fault.Conflict, "The server's instructions match the accepted version.")
	case row.InstructionsReview == connectors.ReviewRejected && !d.Accept:
		return fault.Errorf(fault.Conflict, "The server's instructions are already rejected.")
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
		TenantID: t.id, ConnectorID: d.Connector, Tool: connectors.InstructionsTool, State: state, DecidedBy: cleanText(d.By),
		ID: connectors.ToolChangeID{UUID: newID()}, Hash: now[:],
	})
	return rowError(err, "change")
}

// acceptCosmeticInstructions accepts waiting instructions without risk, of locked connectors.
func (t *tenant) acceptCosmeticInstructions(ctx context.Context, by string, ids []uuid.UUID) (accepted []ToolName, err error) {
	rows, err := t.q.AcceptCosmeticInstructions(ctx, t.id, cleanText(by), ids)
	for _, id := range rows {
		accepted = append(accepted, ToolName{Connector: id, Tool: connectors.InstructionsTool})
	}
	return accepted, err
}

func toInstructions(current string, waiting *string, review connectors.Review) connectors.Instructions {
	i := connectors.Instructions{Current: current, Accepted: current, Review: review}
	if waiting != nil {
		i.Accepted = *waiting
	}
	return i
}
