package webhooks

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Test sends something that is about nothing, now and once, whether or not the webhook is on, and returns what came of it.
func (p *Post) Test(ctx context.Context, a auth.Actor, id connectors.WebhookID) (connectors.Delivery, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Delivery{}, err
	}
	var made connectors.DeliveryID
	door := p.store.Tenant(a.Tenant.ID)
	err := door.Tx(ctx, func(tx *store.Tenant) error {
		w, err := tx.Webhook(ctx, id)
		if err != nil {
			return err
		}
		body := connectors.DeliveryBody{
			Title: "A test of the webhook " + w.Name, Text: "It was sent by hand. Nothing has happened.", Link: "/webhooks/" + w.ID.String(),
		}
		if made, err = tx.AddTestDelivery(ctx, id, body); err != nil {
			return err
		}
		return tx.Record(ctx, event(a, "webhook.test", w))
	})
	if err != nil {
		return connectors.Delivery{}, err
	}
	// Where it finds no place, it waits, and is sent by the next sweep.
	if _, err := p.Deliver(ctx, a.Tenant.ID, made); err != nil {
		return connectors.Delivery{}, err
	}
	return door.Delivery(ctx, made)
}

// Redeliver has a delivery tried again at once, under its own id: whoever has seen it knows that.
func (p *Post) Redeliver(ctx context.Context, a auth.Actor, webhook connectors.WebhookID, id connectors.DeliveryID) (d connectors.Delivery, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return d, err
	}
	err = p.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		w, err := tx.Webhook(ctx, webhook)
		if err != nil {
			return err
		}
		if d, err = tx.Redeliver(ctx, webhook, id); err != nil {
			return err
		}
		if !w.Enabled {
			return fault.Errorf(fault.Conflict, "The webhook is off. Turn it on first.")
		}
		e := event(a, "webhook.redeliver", w)
		e.Detail["delivery_id"] = id.String()
		return tx.Record(ctx, e)
	})
	return d, err
}
