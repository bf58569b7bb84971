package auth

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// DefaultsChange is a change of the defaults of new agents and connectors. Nil fields stay.
type DefaultsChange struct {
	Approval      *connectors.ApprovalMode
	SyncInterval  *time.Duration // whole seconds
	DefinitionAge *time.Duration // whole seconds
	ToolChanges   *connectors.ToolChangePolicy
	Listen        *connectors.ListenPolicy
}

// applyTo returns d with the change.
func (c DefaultsChange) applyTo(d connectors.Defaults) connectors.Defaults {
	if d == (connectors.Defaults{}) {
		d = connectors.ContractDefaults()
	}
	setIfGiven(&d.Approval, c.Approval)
	setIfGiven(&d.SyncInterval, c.SyncInterval)
	setIfGiven(&d.DefinitionAge, c.DefinitionAge)
	setIfGiven(&d.ToolChanges, c.ToolChanges)
	setIfGiven(&d.Listen, c.Listen)
	return d
}

// checkFields validates the change.
func (c DefaultsChange) checkFields() []fault.Field {
	return c.applyTo(connectors.ContractDefaults()).Validate()
}

func setDefaults(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, c DefaultsChange) error {
	now := c.applyTo(before.Defaults)
	if now == before.Defaults {
		return nil
	}
	return changeTenant(ctx, tx, a.Event("tenant.set_defaults", before.Slug), func() error { return tx.SetDefaults(ctx, now) })
}

func setIfGiven[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}
