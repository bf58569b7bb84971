package webhooks

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Test sends a test delivery once, now, even if the webhook is off, and returns the result.
func (p *Post) Test(ctx context.Context, a auth.Actor, id connectors.WebhookID) (connectors.Delivery, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Delivery{}, err
	}
	var created connectors.DeliveryID
	st := p.store.Tenant(a.Tenant.ID)
	err := st.Tx(ctx, func(tx *store.Tenant) error {
		w, err := tx.Webhooks().Get(ctx, id)
		if err != nil {
			return err
		}
		body := connectors.DeliveryBody{
			Title: "Test of webhook " + w.Name, Text: "Just a test: nothing has happened.", Link: "/webhooks/" + w.ID.String(),
		}
		if created, err = tx.Webhooks().AddTestDelivery(ctx, id, body); err != nil {
			return err
		}
		return tx.Audit().Record(ctx, newEvent(a, "webhook.test", w))
	})
	if err != nil {
		return connectors.Delivery{}, err
	}
	// Without a free slot it waits for the next sweep.
	if _, err := p.Deliver(ctx, a.Tenant.ID, created); err != nil {
		return connectors.Delivery{}, err
	}
	return st.Webhooks().Delivery(ctx, created)
}

// Redeliver retries a delivery at once under its own id, by which a receiver detects duplicates.
func (p *Post) Redeliver(ctx context.Context, a auth.Actor, webhook connectors.WebhookID, id connectors.DeliveryID) (d connectors.Delivery, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return d, err
	}
	err = p.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		w, err := tx.Webhooks().Get(ctx, webhook)
		if err != nil {
			return err
		}
		if d, err = tx.Webhooks().Redeliver(ctx, webhook, id); err != nil {
			return err
		}
		if !w.Enabled {
			return fault.Errorf(fault.Conflict, "The webhook is off. Turn it on first.")
		}
		e := newEvent(a, "webhook.redeliver", w)
		e.Detail["delivery_id"] = id.String()
		return tx.Audit().Record(ctx, e)
	})
	return d, err
}
