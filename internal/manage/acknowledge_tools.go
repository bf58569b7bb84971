package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// AcknowledgeTools accepts that a server lists all or most of its tools no more. A connector without such a loss stays
// as it is.
func (r *Registry) AcknowledgeTools(ctx context.Context, a auth.Actor, ref connectors.Ref) (c connectors.Connector, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return c, err
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if c, err = tx.Connectors().Get(ctx, ref); err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, store.OfVanished(c.ID))
		if err != nil {
			return err
		}
		if err := tx.Tools().AcknowledgeVanished(ctx, c.ID); err != nil {
			return err
		}
		c.Vanished = nil
		e := a.Event("connector.acknowledge_tools", c.Slug)
		e.Detail = map[string]any{"connector_id": c.ID.String()}
		return tx.RecordChange(ctx, e, before, store.OfVanished(c.ID))
	})
	return c, err
}
