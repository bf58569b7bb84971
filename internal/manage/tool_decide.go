package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// ToolVerdict is a person's decision on a changed tool.
type ToolVerdict struct {
	Tool   string
	Accept bool
	Keep   bool             // the accepted definition stays in service
	Hash   *connectors.Hash // the definition that the person saw; nil: the current one
}

// State is the state of a change that was decided so.
func (v ToolVerdict) State() connectors.ChangeState {
	switch {
	case v.Keep:
		return connectors.ChangeKept
	case v.Accept:
		return connectors.ChangeAccepted
	}
	return connectors.ChangeRejected
}

// DecideTool accepts or rejects a tool's current definition for all agents, or keeps the accepted one. It requires an admin, because it
// changes what every agent sees and may send. Conflict means that nothing is pending, or that the server
// changed the tool again.
func (r *Registry) DecideTool(ctx context.Context, a auth.Actor, ref connectors.Ref, v ToolVerdict) (tool connectors.Tool, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Tool{}, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, ref)
		if err != nil {
			return err
		}
		tool, err = decideTool(ctx, tx, a, c, v)
		return err
	})
	if err != nil {
		return connectors.Tool{}, err
	}
	return tool, nil
}

func decideTool(ctx context.Context, tx *store.Tenant, a auth.Actor, c connectors.Connector, v ToolVerdict) (connectors.Tool, error) {
	err := tx.Tools().Decide(ctx, store.ToolDecision{Connector: c.ID, Tool: v.Tool, Accept: v.Accept, Keep: v.Keep, Hash: v.Hash, By: a.Name})
	if err != nil {
		return connectors.Tool{}, err
	}
	tool, err := tx.Tools().Get(ctx, c.ID, v.Tool)
	if err != nil {
		return connectors.Tool{}, err
	}
	e := a.Event("tool.reject", c.Slug+"/"+tool.Name)
	switch {
	case v.Keep:
		e.Action = "tool.keep"
	case v.Accept:
		e.Action = "tool.accept"
	}
	e.Detail = map[string]any{"connector_id": c.ID.String(), "tool": tool.Name, "hash": tool.Hash.String()}
	return tool, tx.Audit().Record(ctx, e)
}

// DecideInstructions accepts or rejects a server's current instructions; the verdict names no tool. To reject them keeps the
// accepted ones.
func (r *Registry) DecideInstructions(ctx context.Context, a auth.Actor, ref connectors.Ref, v ToolVerdict) (now connectors.Connector, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Connector{}, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, ref)
		if err != nil {
			return err
		}
		now, err = decideInstructions(ctx, tx, a, c, v)
		return err
	})
	if err != nil {
		return connectors.Connector{}, err
	}
	return now, nil
}

func decideInstructions(ctx context.Context, tx *store.Tenant, a auth.Actor, c connectors.Connector, v ToolVerdict) (connectors.Connector, error) {
	if err := tx.Tools().DecideInstructions(ctx, store.ToolDecision{Connector: c.ID, Accept: v.Accept, Hash: v.Hash, By: a.Name}); err != nil {
		return connectors.Connector{}, err
	}
	now, err := tx.Connectors().Get(ctx, connectors.Ref(c.ID.String()))
	if err != nil {
		return connectors.Connector{}, err
	}
	e := a.Event("instructions.reject", c.Slug)
	if v.Accept {
		e.Action = "instructions.accept"
	}
	e.Detail = map[string]any{"connector_id": c.ID.String(), "hash": connectors.InstructionsDefinition(now.Server.Instructions).Hash.String()}
	return now, tx.Audit().Record(ctx, e)
}

// AcceptCosmetic accepts all pending cosmetic changes and returns their tools.
func (r *Registry) AcceptCosmetic(ctx context.Context, a auth.Actor) (accepted []store.ToolName, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return nil, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if accepted, err = tx.Tools().AcceptCosmetic(ctx, a.Name); err != nil || len(accepted) == 0 {
			return err
		}
		e := a.Event("tool.accept_cosmetic", "")
		tools := make([]string, len(accepted))
		for i, t := range accepted {
			tools[i] = t.Connector.String() + "/" + t.Tool
		}
		e.Detail = map[string]any{"tools": tools}
		return tx.Audit().Record(ctx, e)
	})
	if err != nil {
		return nil, err
	}
	return accepted, nil
}
