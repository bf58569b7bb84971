package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// DeleteConnector deletes a connector with its tools, credentials and sync runs.
func (r *Registry) DeleteConnector(ctx context.Context, a auth.Actor, ref connectors.Ref) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, ref)
		if err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, store.ConnectorState(c.ID))
		if err != nil {
			return err
		}
		if err := tx.Connectors().Delete(ctx, c.ID); err != nil {
			return err
		}
		if c.OAuth.TokenExchange != "" {
			if err := tx.Accounts().DeleteIssuedAccounts(ctx, c.ID); err != nil {
				return err
			}
		}
		e := a.Event("connector.delete", c.Slug)
		e.Detail = map[string]any{"connector_id": c.ID.String(), "name": c.Name, "url": c.URL}
		return tx.RecordChange(ctx, e, before, store.ConnectorState(c.ID))
	})
}
