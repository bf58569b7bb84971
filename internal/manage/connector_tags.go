package manage

import (
	"context"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// TagConnectors adds and removes tags of connectors, or of none if one fails. It returns the number of changed ones.
func (r *Registry) TagConnectors(ctx context.Context, a auth.Actor, refs []connectors.Ref, added, removed []string) (changed int, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return 0, err
	}
	if len(refs) == 0 || len(refs) > MaxGrants {
		return 0, fault.Errorf(fault.Invalid, "Select 1–%d connectors.", MaxGrants)
	}
	if added, err = connectors.CheckTags(added); err != nil {
		return 0, err
	}
	if removed, err = connectors.CheckTags(removed); err != nil {
		return 0, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		ids, before := make([]connectors.ConnectorID, len(refs)), map[connectors.ConnectorID][]string{}
		for i, ref := range refs {
			c, err := tx.Connectors().Get(ctx, ref)
			if err != nil {
				return err
			}
			ids[i], before[c.ID] = c.ID, c.Tags
			if len(c.Tags)+len(added) > connectors.MaxTags {
				return fault.Errorf(fault.Invalid, "A connector has at most %d tags.", connectors.MaxTags)
			}
		}
		tagged, err := tx.Connectors().ChangeTags(ctx, ids, added, removed)
		if err != nil {
			return err
		}
		for _, c := range tagged {
			e := a.Event("connector.update", c.Slug)
			e.Detail = map[string]any{"connector_id": c.ID.String()}
			e.Before, e.After = store.State{"tags": before[c.ID]}, store.State{"tags": c.Tags}
			if err := tx.Audit().Record(ctx, e); err != nil {
				return err
			}
		}
		changed = len(tagged)
		return nil
	})
	return changed, err
}

// setDraftParts stores the parts of a draft that are no settings: a program's environment and the tags. nil keeps either.
func setDraftParts(ctx context.Context, tx store.Connectors, c connectors.Connector, d connectors.Draft) (connectors.Connector, error) {
	c, err := setEnvironment(ctx, tx, c, d.Env)
	if err != nil || d.Tags == nil {
		return c, err
	}
	dropped := slices.DeleteFunc(slices.Clone(c.Tags), func(tag string) bool { return slices.Contains(d.Tags, tag) })
	if _, err := tx.ChangeTags(ctx, []connectors.ConnectorID{c.ID}, d.Tags, dropped); err != nil {
		return c, err
	}
	c.Tags = d.Tags
	return c, nil
}

// changedFields names the settings that differ, and the tags if they do.
func changedFields(old, now connectors.Connector) []string {
	changed := now.ChangedFrom(old.Settings)
	if !slices.Equal(old.Tags, now.Tags) {
		changed = append(changed, "tags")
	}
	return changed
}
