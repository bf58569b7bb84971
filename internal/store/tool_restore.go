package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
	"patchbay/internal/toolchange"
)

// ToolRestoration puts an earlier definition of a tool back into service.
type ToolRestoration struct {
	Connector connectors.ConnectorID
	Tool      string            // InstructionsTool: the server's instructions
	Hash      connectors.Hash   // of the earlier definition
	Current   connectors.Hash   // of the server's definition, with which it was compared
	Text      string            // the earlier instructions
	Change    toolchange.Change // from the earlier definition to the current one
	By        string
}

// Served returns those of the definitions that agents were served in the past, with the times at which they came.
func (t Tools) Served(ctx context.Context, id connectors.ConnectorID, tool string, hashes []connectors.Hash) ([]connectors.ServedDefinition, error) {
	rows, err := t.q.ServedDefinitions(ctx, dbgen.ServedDefinitionsParams{TenantID: t.id, ConnectorID: id, Tool: cleanText(tool), Hashes: hashKeys(hashes)})
	if err != nil {
		return nil, err
	}
	served := make([]connectors.ServedDefinition, len(rows))
	for i, r := range rows {
		served[i] = connectors.ServedDefinition{Hash: connectors.Hash(r.Hash)}
		if r.SeenAt.Unix() > 0 {
			served[i].SeenAt = new(r.SeenAt.UTC())
		}
	}
	return served, nil
}

// Restore serves agents an earlier definition of a tool. Calls go on if CanKeep allows it; else the server's current definition
// waits for a decision. It fails with Conflict if agents were never served that definition, or already are.
func (t Tools) Restore(ctx context.Context, r ToolRestoration) error {
	return t.ensureTx(ctx, func(tx *Tenant) error { return tx.notifyChange(tx.restoreTool(ctx, r), "connector", r.Connector) })
}

func (t *tenant) restoreTool(ctx context.Context, r ToolRestoration) error {
	r.Tool = cleanText(r.Tool)
	if r.Tool == connectors.InstructionsTool {
		return t.restoreInstructions(ctx, r)
	}
	if uri, isSkill := connectors.SkillOfTool(r.Tool); isSkill {
		return t.restoreSkill(ctx, uri, r)
	}
	row, err := t.q.LockTool(ctx, t.id, r.Connector, r.Tool)
	if err != nil {
		return rowError(err, "tool")
	}
	switch {
	case row.Removed:
		return fault.Errorf(fault.Conflict, "The server no longer lists the tool %q.", r.Tool).WithType(TypeToolChanged)
	case *toHash(row.CurrentHash) != r.Current:
		return fault.Errorf(fault.Conflict, "The tool %q changed again. Review the latest version.", r.Tool).WithType(TypeToolChanged)
	case row.AcceptedHash != nil && *toHash(row.AcceptedHash) == r.Hash, r.Current == r.Hash:
		return fault.Errorf(fault.Conflict, "Agents already see this version of %q.", r.Tool)
	}
	review, state := connectors.ReviewKept, connectors.ChangeKept
	if !connectors.CanKeep(r.Change.Kinds) {
		review, state = connectors.ReviewChanged, connectors.ChangeWaiting
	}
	if err := t.recordRestoration(ctx, r, state); err != nil {
		return err
	}
	return t.q.SetAcceptedDefinition(ctx, dbgen.SetAcceptedDefinitionParams{TenantID: t.id, ConnectorID: r.Connector, Tool: r.Tool, AcceptedHash: r.Hash[:], Review: review})
}

func (t *tenant) restoreInstructions(ctx context.Context, r ToolRestoration) error {
	row, err := t.q.LockInstructions(ctx, t.id, r.Connector)
	if err != nil {
		return rowError(err, "connector")
	}
	served := toInstructions(row.ServerInstructions, row.AcceptedInstructions, row.InstructionsReview).Accepted
	switch now := connectors.InstructionsDefinition(row.ServerInstructions).Hash; {
	case now != r.Current:
		return fault.Errorf(fault.Conflict, "The server's instructions changed again. Review the latest version.").WithType(TypeToolChanged)
	case connectors.InstructionsDefinition(served).Hash == r.Hash, now == r.Hash:
		return fault.Errorf(fault.Conflict, "Agents already get these instructions.")
	}
	if err := t.recordRestoration(ctx, r, connectors.ChangeKept); err != nil {
		return err
	}
	return t.q.RestoreInstructions(ctx, dbgen.RestoreInstructionsParams{AcceptedInstructions: &r.Text, Review: connectors.ReviewRejected, TenantID: t.id, ID: r.Connector})
}

// recordRestoration stores the restoration as a change, in place of one that waits.
func (t *tenant) recordRestoration(ctx context.Context, r ToolRestoration, state connectors.ChangeState) error {
	served, err := Tools{t}.Served(ctx, r.Connector, r.Tool, []connectors.Hash{r.Hash})
	if err != nil {
		return err
	}
	if len(served) == 0 {
		return fault.Errorf(fault.Conflict, "Agents never saw this version.")
	}
	if err := t.q.SupersedeChanges(ctx, t.id, r.Connector, []string{r.Tool}); err != nil {
		return err
	}
	kinds := make([]string, len(r.Change.Kinds))
	for i, k := range r.Change.Kinds {
		kinds[i] = string(k)
	}
	decided := dbgen.InsertDecidedChangeParams{
		TenantID: t.id, ID: connectors.ToolChangeID{UUID: newID()}, ConnectorID: r.Connector, Tool: r.Tool, BeforeHash: r.Hash[:], AfterHash: r.Current[:],
		Kinds: kinds, Risk: string(r.Change.Risk), State: state, DecidedBy: cleanText(r.By),
	}
	if state == connectors.ChangeWaiting {
		decided.DecidedBy = ""
	}
	return t.q.InsertDecidedChange(ctx, decided)
}
