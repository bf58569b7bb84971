package manage

import (
	"cmp"
	"context"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// ChangeVerdict is one decision of several.
type ChangeVerdict struct {
	Connector connectors.Ref
	ToolVerdict
}

// MaxVerdicts bounds the decisions of one request.
const MaxVerdicts = 500

// DecideChanges takes several decisions, all or none. It requires an admin, as DecideTool does.
func (r *Registry) DecideChanges(ctx context.Context, a auth.Actor, verdicts []ChangeVerdict) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	switch {
	case len(verdicts) == 0:
		return fault.Errorf(fault.Invalid, "Select at least one change.")
	case len(verdicts) > MaxVerdicts:
		return fault.Errorf(fault.Invalid, "Select at most %d changes.", MaxVerdicts)
	}
	verdicts = slices.SortedStableFunc(slices.Values(verdicts), func(a, b ChangeVerdict) int { // all requests lock in one order
		return cmp.Or(cmp.Compare(a.Connector, b.Connector), cmp.Compare(a.Tool, b.Tool))
	})
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		known := map[connectors.Ref]connectors.Connector{}
		for _, v := range verdicts {
			c, seen := known[v.Connector]
			if !seen {
				var err error
				if c, err = tx.Connectors().Get(ctx, v.Connector); err != nil {
					return err
				}
				known[v.Connector] = c
			}
			if err := decideChange(ctx, tx, a, c, v.ToolVerdict); err != nil {
				return err
			}
		}
		return nil
	})
}

func decideChange(ctx context.Context, tx *store.Tenant, a auth.Actor, c connectors.Connector, v ToolVerdict) (err error) {
	if v.Tool == connectors.InstructionsTool {
		_, err = decideInstructions(ctx, tx, a, c, v)
	} else if uri, isSkill := connectors.SkillOfTool(v.Tool); isSkill {
		_, err = decideSkill(ctx, tx, a, c, uri, v)
	} else {
		_, err = decideTool(ctx, tx, a, c, v)
	}
	return err
}
