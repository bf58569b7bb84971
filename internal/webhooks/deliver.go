package webhooks

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

const (
	// hold is how long a try keeps others from the delivery. Where its process dies, another tries it after that.
	hold = time.Minute
	// endTimeout bounds the writing down of what came of a try, which the caller's end does not cut off.
	endTimeout = 10 * time.Second
)

// Deliver tries a delivery that is due, and says when to come again; 0: it need not. What the receiver does is no error.
//
//  1. A place: the host and the tenant have a few, so that the others' deliveries go on.
//  2. The claim, so that no second process tries it at the same time. It counts the try before anything is sent: one that dies in the
//     middle may have arrived, and is tried again under the same id.
//  3. The request. No transaction is open meanwhile.
//  4. What came of it, and how the webhook stands now: one transaction.
func (p *Post) Deliver(ctx context.Context, tenant connectors.TenantID, id connectors.DeliveryID) (again time.Duration, err error) {
	door := p.store.Tenant(tenant)
	d, err := door.Delivery(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return 0, nil // it was deleted with its webhook, or was one too many
	}
	if err != nil || d.State != connectors.DeliveryWaiting {
		return 0, err
	}
	w, secrets, err := p.store.Vault(tenant).WebhookSecrets(ctx, d.WebhookID)
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	leave, ok := p.places.take(tenant, hostOf(w.URL))
	if !ok {
		return p.jitter(full), nil
	}
	defer leave()
	d, claimed, err := door.ClaimDelivery(ctx, id, hold)
	if err != nil || !claimed {
		return p.untilDue(d), notThere(err)
	}
	a, err := p.send(safehttp.WithTenant(ctx, tenant.String()), w, secrets, d)
	if err != nil {
		return 0, err
	}
	return p.end(ctx, tenant, d, a)
}

// untilDue is when a delivery that somebody else tries, or that waits, is to be looked at again.
func (p *Post) untilDue(d connectors.Delivery) time.Duration {
	if d.State != connectors.DeliveryWaiting || d.NextAt == nil {
		return 0
	}
	return max(time.Second, d.NextAt.Sub(p.now()))
}

func notThere(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// end writes down what came of a try.
func (p *Post) end(ctx context.Context, tenant connectors.TenantID, d connectors.Delivery, a answer) (again time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	try := p.judge(d, a)
	err = p.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		ours, err := tx.EndDelivery(ctx, d, try)
		if err != nil || !ours || d.Kind == connectors.NoticeWebhookTest {
			return err
		}
		if a.arrived() {
			return tx.NoteDelivered(ctx, d.WebhookID)
		}
		return p.noteFailure(ctx, tx, d.WebhookID, a)
	})
	p.log.DebugContext(ctx, "webhook tried", "tenant_id", tenant, "webhook_id", d.WebhookID, "delivery_id", d.ID,
		"status", a.status, "attempt", d.Attempts, "duration_ms", a.took.Milliseconds(), "reason", a.sentence)
	return try.Wait, notThere(err)
}

// judge says how a delivery stands after a try.
func (p *Post) judge(d connectors.Delivery, a answer) store.Try {
	try := store.Try{State: connectors.DeliveryDelivered, Status: a.status, Error: a.sentence, Duration: a.took}
	if a.arrived() {
		return try
	}
	wait, last := next(d.Attempts, a)
	if last || d.Kind == connectors.NoticeWebhookTest {
		try.State = connectors.DeliveryFailed
		return try
	}
	try.State, try.Wait = connectors.DeliveryWaiting, p.jitter(wait)
	return try
}

// noteFailure counts a failed try at the webhook, and turns it off where that is enough.
func (p *Post) noteFailure(ctx context.Context, tx *store.Tenant, id connectors.WebhookID, a answer) error {
	w, err := tx.NoteUndelivered(ctx, id)
	if err != nil {
		return err
	}
	why := end(w, a, p.now())
	if why == connectors.WebhookOnOrOff {
		return nil
	}
	was, err := tx.State(ctx, store.OfWebhook(id))
	if err != nil {
		return err
	}
	off, err := tx.DisableWebhook(ctx, id, why)
	if err != nil || !off {
		return err
	}
	e := store.Event{ActorType: "system", ActorName: "Patchbay", Action: "webhook.disable", Target: w.Name}
	e.Detail = map[string]any{"webhook_id": id.String(), "host": hostOf(w.URL), "reason": string(why)}
	if err := tx.RecordChange(ctx, e, was, store.OfWebhook(id)); err != nil {
		return err
	}
	return tx.AddNotice(ctx, connectors.WebhookOffNotice(w, why))
}
