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
	return changeTenant(ctx, tx, a.Event("tenant.set_defaults", before.Slug), func() error { return tx.SetDefaults(ctx, now) })
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
