package scim

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// change is one request's change of a tenant.
type change struct {
	tx       *store.Tenant
	actor    auth.Actor
	settings connectors.SSO
	byGroups bool // the provider's groups decide roles
	refused  *refusal
}

// refusal is why a membership had to stay. It is audited although the change is undone.
type refusal struct {
	email string
	why   error
}

// runChange runs f in a transaction of the provider's tenant. The token must still be the current one.
func (s *Service) runChange(r *http.Request, f func(context.Context, *change) error) error {
	p := providerFrom(r.Context())
	ctx := r.Context()
	tenant := s.store.Tenant(p.actor.Tenant.ID)
	var refused *refusal
	err := tenant.Tx(ctx, func(tx *store.Tenant) error {
		refused = nil
		if _, err := tx.LockAndReadState(ctx, store.OfSCIM()); err != nil { // one change of a tenant at a time
			return err
		}
		err := tx.SCIM().LockToken(ctx, p.token)
		if fault.Is(err, fault.NotFound) {
			return newTokenError("Unknown or replaced SCIM token.")
		}
		if err != nil {
			return err
		}
		settings, err := tx.SSO().Get(ctx)
		if err != nil {
			return err
		}
		c := &change{tx: tx, actor: p.actor, settings: settings}
		if err := c.countGroups(ctx, tx.SCIM()); err != nil {
			return err
		}
		err = f(ctx, c)
		refused = c.refused
		return err
	})
	if err != nil && refused != nil {
		e := p.actor.Event("scim.refuse", refused.email)
		e.Detail = map[string]any{"reason": fault.As(refused.why).Message}
		if recordErr := tenant.Audit().Record(ctx, e); recordErr != nil {
			return recordErr
		}
	}
	return err
}

// countGroups finds out whether the provider's groups decide roles. Without groups from it, members keep their roles.
func (c *change) countGroups(ctx context.Context, door store.SCIM) error {
	_, groups, err := door.Groups(ctx, connectors.SCIMFilter{}, 0, 0)
	c.byGroups = groups > 0 && c.settings.Governs()
	return err
}

// recordEvent audits a change of a resource.
func (c *change) recordEvent(ctx context.Context, action, target string, was store.State, of store.StateReader, detail map[string]any) error {
	e := c.actor.Event(action, target)
	e.Detail = detail
	return c.tx.RecordChange(ctx, e, was, of)
}
