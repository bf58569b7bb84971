package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// DecideSkill accepts a skill's current definition for all agents, or rejects it in favour of the accepted one. To reject that one
// withdraws the skill. It requires an admin, because it changes what every agent is told to do. Conflict means that nothing is
// pending, or that the server changed the skill again.
func (r *Registry) DecideSkill(ctx context.Context, a auth.Actor, ref connectors.Ref, uri string, v ToolVerdict) (skill connectors.Skill, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return skill, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, ref)
		if err != nil {
			return err
		}
		skill, err = decideSkill(ctx, tx, a, c, uri, v)
		return err
	})
	return skill, err
}

func decideSkill(ctx context.Context, tx *store.Tenant, a auth.Actor, c connectors.Connector, uri string, v ToolVerdict) (connectors.Skill, error) {
	decision := store.ToolDecision{Connector: c.ID, Tool: connectors.SkillTool(uri), Accept: v.Accept, Keep: v.Keep, Hash: v.Hash, By: a.Name}
	if err := tx.Tools().Decide(ctx, decision); err != nil {
		return connectors.Skill{}, err
	}
	skill, err := tx.Skills().Get(ctx, c.ID, uri)
	if err != nil {
		return connectors.Skill{}, err
	}
	e := a.Event("skill.reject", c.Slug+"/"+uri)
	if v.Accept {
		e.Action = "skill.accept"
	}
	e.Detail = map[string]any{"connector_id": c.ID.String(), "skill": uri, "hash": skill.Current.Hash.String()}
	return skill, tx.Audit().Record(ctx, e)
}

// Skills returns the skills that a connector's server lists, by URI.
func (r *Registry) Skills(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref) (c connectors.Connector, skills []connectors.Skill, err error) {
	err = r.store.Tenant(tenant).Snapshot(ctx, func(db *store.Tenant) error {
		if c, err = db.Connectors().Get(ctx, ref); err != nil {
			return err
		}
		skills, err = db.Skills().List(ctx, c.ID)
		return err
	})
	return c, skills, err
}

// Skill returns a skill of a connector, removed or not.
func (r *Registry) Skill(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref, uri string) (skill connectors.Skill, err error) {
	err = r.store.Tenant(tenant).Snapshot(ctx, func(db *store.Tenant) error {
		c, err := db.Connectors().Get(ctx, ref)
		if err != nil {
			return err
		}
		skill, err = db.Skills().Get(ctx, c.ID, uri)
		return err
	})
	return skill, err
}
