package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// UndoDecisions brings back the states before decisions about tool changes, all or none. It requires an admin, as DecideTool does.
// Nothing is accepted by it that agents were not served before. Conflict means that a change was decided again.
func (r *Registry) UndoDecisions(ctx context.Context, a auth.Actor, decisions []store.Decision) (undone []connectors.ToolChange, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return nil, err
	}
	if len(decisions) == 0 || len(decisions) > MaxVerdicts {
		return nil, fault.Errorf(fault.Invalid, "Select 1–%d changes.", MaxVerdicts)
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		for _, d := range decisions {
			change, err := tx.Tools().Undo(ctx, d, a.Name)
			if err != nil {
				return err
			}
			undone = append(undone, change)
			e := a.Event("tool.undo", change.ConnectorSlug+"/"+change.Tool)
			if change.Tool == connectors.InstructionsTool {
				e = a.Event("instructions.undo", change.ConnectorSlug)
			} else if uri, isSkill := connectors.SkillOfTool(change.Tool); isSkill {
				e = a.Event("skill.undo", change.ConnectorSlug+"/"+uri)
			}
			e.Detail = map[string]any{"connector_id": change.ConnectorID.String(), "tool": change.Tool, "hash": change.After.String(), "decision": string(change.State)}
			if err := tx.Audit().Record(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	return undone, err
}
