package auth

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// DefaultsChange is what becomes different of the defaults of new agents and connectors. What is nil stays.
type DefaultsChange struct {
	Approval      *connectors.ApprovalMode
	SyncInterval  *time.Duration // whole seconds
	DefinitionAge *time.Duration // whole seconds
	ToolChanges   *connectors.ToolChangePolicy
	Listen        *connectors.ListenPolicy
}

// apply is d with the change.
func (c DefaultsChange) apply(d connectors.Defaults) connectors.Defaults {
	if d == (connectors.Defaults{}) {
		d = connectors.ContractDefaults()
	}
	set(&d.Approval, c.Approval)
	set(&d.SyncInterval, c.SyncInterval)
	set(&d.DefinitionAge, c.DefinitionAge)
	set(&d.ToolChanges, c.ToolChanges)
	set(&d.Listen, c.Listen)
	return d
}

// check tells what is wrong with what is said.
func (c DefaultsChange) check() []fault.Field {
	return c.apply(connectors.ContractDefaults()).Validate()
}

func setDefaults(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, c DefaultsChange) error {
	now := c.apply(before.Defaults)
	if now == before.Defaults {
		return nil
	}
	if err := tx.SetDefaults(ctx, now); err != nil {
		return err
	}
	e := a.Event("tenant.set_defaults", before.Slug)
	e.Detail = describeDefaults(now)
	e.Detail["before"] = describeDefaults(before.Defaults)
	return tx.Record(ctx, e)
}

func describeDefaults(d connectors.Defaults) map[string]any {
	return map[string]any{
		"approval": d.Approval, "sync_interval_s": int(d.SyncInterval / time.Second), "max_definition_age_s": int(d.DefinitionAge / time.Second),
		"tool_changes": d.ToolChanges, "listen": d.Listen,
	}
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
