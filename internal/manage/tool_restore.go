package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
)

// RestoreTool serves agents an earlier definition of a tool or of a skill, or earlier instructions of the server. Where calls would not be safe,
// the server's current definition waits for a decision. It requires an admin, as DecideTool does.
func (r *Registry) RestoreTool(ctx context.Context, a auth.Actor, ref connectors.Ref, tool string, earlier connectors.Hash) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	c, restoration, err := r.compareEarlier(ctx, a, ref, tool, earlier)
	if err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.Tools().Restore(ctx, restoration); err != nil {
			return err
		}
		e := a.Event("tool.restore", c.Slug+"/"+tool)
		if tool == connectors.InstructionsTool {
			e = a.Event("instructions.restore", c.Slug)
		} else if uri, isSkill := connectors.SkillOfTool(tool); isSkill {
			e = a.Event("skill.restore", c.Slug+"/"+uri)
		}
		e.Detail = map[string]any{"connector_id": c.ID.String(), "tool": tool, "hash": earlier.String()}
		return tx.Audit().Record(ctx, e)
	})
}

// compareEarlier compares an earlier definition with the server's current one, outside of the transaction.
func (r *Registry) compareEarlier(
	ctx context.Context, a auth.Actor, ref connectors.Ref, tool string, earlier connectors.Hash,
) (c connectors.Connector, restoration store.ToolRestoration, err error) {
	var now connectors.Definition
	var before []byte
	var names *toolchange.Names
	err = r.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(db *store.Tenant) error {
		if c, err = db.Connectors().Get(ctx, ref); err != nil {
			return err
		}
		if now, err = currentDefinition(ctx, db, c, tool); err != nil {
			return err
		}
		raws, err := db.Tools().Definitions(ctx, []connectors.Hash{earlier})
		if err != nil {
			return err
		}
		if before = raws[earlier]; before == nil {
			return fault.Errorf(fault.NotFound, "The history no longer has this version.")
		}
		others, err := db.Tools().Others(ctx, c.ID, append(toolchange.Mentions(before, now.Raw), tool), false)
		names = toolchange.NewNames(others, c.DiscoveredTools)
		return err
	})
	if err != nil {
		return c, restoration, err
	}
	restoration = store.ToolRestoration{
		Connector: c.ID, Tool: tool, Hash: earlier, Current: now.Hash, By: a.Name, Change: toolchange.NewBudget(ctx.Done()).Compare(before, now.Raw, names),
	}
	if tool == connectors.InstructionsTool {
		restoration.Text = connectors.InstructionsIn(before)
	}
	return c, restoration, nil
}

func currentDefinition(ctx context.Context, db *store.Tenant, c connectors.Connector, tool string) (connectors.Definition, error) {
	if tool == connectors.InstructionsTool {
		return connectors.InstructionsDefinition(c.Server.Instructions), nil
	}
	if uri, isSkill := connectors.SkillOfTool(tool); isSkill {
		s, err := db.Skills().Get(ctx, c.ID, uri)
		return s.Current, err
	}
	t, err := db.Tools().Get(ctx, c.ID, tool)
	return t.Definition, err
}
