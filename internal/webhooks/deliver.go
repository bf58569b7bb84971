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
	// claimTime is how long a try excludes others. If its process dies, another one retries after that.
	claimTime = time.Minute
	// recordTimeout bounds storing the result of a try, which the caller cannot cancel.
	recordTimeout = 10 * time.Second
)

// Deliver tries a due delivery and returns when to call again; 0: never. A receiver's failure is no error.
//
//  1. Take a slot of the host and the tenant, so that other deliveries go on.
//  2. Claim the delivery, so that no other process tries it. The claim counts the try before anything is sent: a try that dies may have
//     arrived, and is repeated under the same id.
//  3. Send the request, with no transaction open.
//  4. Store the result and the webhook's state in one transaction.
func (p *Post) Deliver(ctx context.Context, tenant connectors.TenantID, id connectors.DeliveryID) (retryAfter time.Duration, err error) {
	st := p.store.Tenant(tenant)
	d, err := st.Webhooks().Delivery(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return 0, nil // deleted with its webhook, or over the limit
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
	release, ok := p.gates.tryAcquire(tenant, hostName(w.URL))
	if !ok {
		return p.jitter(slotWait), nil
	}
	defer release()
	d, claimed, err := st.Webhooks().ClaimDelivery(ctx, id, claimTime)
	if err != nil || !claimed {
		return p.delayUntilDue(d), ignoreNotFound(err)
	}
	result, err := p.sendOnce(safehttp.WithTenant(ctx, tenant.String()), w, secrets, d)
	if err != nil {
		return 0, err
	}
	return p.recordAttempt(ctx, tenant, d, result)
}

// delayUntilDue returns the delay of a waiting delivery, also one that another process tries.
func (p *Post) delayUntilDue(d connectors.Delivery) time.Duration {
	if d.State != connectors.DeliveryWaiting || d.NextAt == nil {
		return 0
	}
	return max(time.Second, d.NextAt.Sub(p.now()))
}

func ignoreNotFound(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// recordAttempt stores the result of a try.
func (p *Post) recordAttempt(ctx context.Context, tenant connectors.TenantID, d connectors.Delivery, result attemptResult) (retryAfter time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	try := p.newAttempt(d, result)
	err = p.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		isOurs, err := tx.Webhooks().EndDelivery(ctx, d, try)
		if err != nil || !isOurs || d.Kind == connectors.NoticeWebhookTest {
			return err
		}
		if result.hasArrived() {
			return tx.Webhooks().NoteDelivered(ctx, d.WebhookID)
		}
		return p.noteFailure(ctx, tx, d.WebhookID, result)
	})
	p.log.DebugContext(ctx, "webhook delivery attempted", "tenant_id", tenant, "webhook_id", d.WebhookID, "delivery_id", d.ID,
		"status", result.status, "attempt", d.Attempts, "duration_ms", result.took.Milliseconds(), "reason", result.sentence)
	return try.Wait, ignoreNotFound(err)
}

// newAttempt returns the state of a delivery after a try.
func (p *Post) newAttempt(d connectors.Delivery, result attemptResult) store.DeliveryAttempt {
	try := store.DeliveryAttempt{State: connectors.DeliveryDelivered, Status: result.status, Error: result.sentence, Duration: result.took}
	if result.hasArrived() {
		return try
	}
	wait, last := nextWait(d.Attempts, result)
	if last || d.Kind == connectors.NoticeWebhookTest {
		try.State = connectors.DeliveryFailed
		return try
	}
	try.State, try.Wait = connectors.DeliveryWaiting, p.jitter(wait)
	return try
}

// noteFailure counts a failed try of the webhook and disables it after too many.
func (p *Post) noteFailure(ctx context.Context, tx *store.Tenant, id connectors.WebhookID, result attemptResult) error {
	w, err := tx.Webhooks().NoteUndelivered(ctx, id)
	if err != nil {
		return err
	}
	reason := disableReason(w, result, p.now())
	if reason == connectors.WebhookOnOrOff {
		return nil
	}
	before, err := tx.State(ctx, store.OfWebhook(id))
	if err != nil {
		return err
	}
	disabled, err := tx.Webhooks().Disable(ctx, id, reason)
	if err != nil || !disabled {
		return err
	}
	e := store.Event{ActorType: "system", ActorName: "Patchbay", Action: "webhook.disable", Target: w.Name}
	e.Detail = map[string]any{"webhook_id": id.String(), "host": hostName(w.URL), "reason": string(reason)}
	if err := tx.RecordChange(ctx, e, before, store.OfWebhook(id)); err != nil {
		return err
	}
	return tx.People().AddNotice(ctx, connectors.WebhookOffNotice(w, reason))
}
