package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// ListenAgain resumes listening to a server that was disabled because of its errors.
func (r *Registry) ListenAgain(ctx context.Context, a auth.Actor, ref connectors.Ref) (c connectors.Connector, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return c, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if c, err = tx.Connectors().Get(ctx, ref); err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, store.OfListening(c.ID))
		if err != nil {
			return err
		}
		if err := tx.Syncs().ListenAgain(ctx, c.ID); err != nil {
			return err
		}
		e := a.Event("connector.listen", c.Slug)
		e.Detail = map[string]any{"connector_id": c.ID.String()}
		return tx.RecordChange(ctx, e, before, store.OfListening(c.ID))
	})
	return c, err
}
