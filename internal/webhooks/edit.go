package webhooks

import (
	"context"
	"errors"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Create stores a webhook, which is enabled, and returns its signing secret for the only time.
func (p *Post) Create(ctx context.Context, a auth.Actor, w connectors.Webhook) (connectors.Webhook, secret.Text, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Webhook{}, "", err
	}
	w = w.Normalized()
	if err := p.validate(w, ""); err != nil {
		return connectors.Webhook{}, "", err
	}
	text := newSecret()
	var created connectors.Webhook
	err := p.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		n, err := tx.Webhooks().Count(ctx)
		if err != nil {
			return err
		}
		if n >= connectors.MaxWebhooks {
			return fault.Errorf(fault.Conflict, "At most %d webhooks. Delete one first.", n)
		}
		if created, err = tx.Webhooks().Create(ctx, w, store.WebhookSecrets{Now: text}); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "webhook.create", created), nil, store.OfWebhook(created.ID))
	})
	if err != nil {
		return connectors.Webhook{}, "", err
	}
	return created, text, nil
}

// Change holds the new fields of a webhook; nil: unchanged.
type Change struct {
	Name    *string
	URL     *string
	Format  *connectors.WebhookFormat
	Kinds   *[]connectors.NoticeKind // empty: all
	Enabled *bool
}

func (c Change) applyTo(w connectors.Webhook) connectors.Webhook {
	setIfGiven(&w.Name, c.Name)
	setIfGiven(&w.URL, c.URL)
	setIfGiven(&w.Format, c.Format)
	setIfGiven(&w.Kinds, c.Kinds)
	setIfGiven(&w.Enabled, c.Enabled)
	return w.Normalized()
}

func setIfGiven[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Update changes a webhook. Disabling it deletes its waiting deliveries; enabling it resets its failures.
func (p *Post) Update(ctx context.Context, a auth.Actor, id connectors.WebhookID, c Change) (updated connectors.Webhook, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return updated, err
	}
	err = p.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfWebhook(id))
		if err != nil {
			return err
		}
		old, err := tx.Webhooks().Get(ctx, id)
		if err != nil {
			return err
		}
		w := c.applyTo(old)
		if err := p.validate(w, old.URL); err != nil {
			return err
		}
		if updated, err = tx.Webhooks().Update(ctx, w); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "webhook.update", updated), before, store.OfWebhook(id))
	})
	return updated, err
}

// Delete deletes a webhook and its deliveries.
func (p *Post) Delete(ctx context.Context, a auth.Actor, id connectors.WebhookID) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return p.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		w, err := tx.Webhooks().Get(ctx, id)
		if err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, store.OfWebhook(id))
		if err != nil {
			return err
		}
		if err := tx.Webhooks().Delete(ctx, id); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "webhook.delete", w), before, store.OfWebhook(id))
	})
}

// validate returns the invalid fields of a webhook. An unchanged URL is checked only when something is sent.
func (p *Post) validate(w connectors.Webhook, before string) error {
	fields := w.Validate()
	if w.URL != "" && w.URL != before {
		if _, err := p.checkURL(w.URL); err != nil {
			fields = append(fields, fault.Field{Location: "url", Message: egressSentence(err)})
		}
	}
	return fault.InvalidFields(fields...)
}

// egressSentence explains a refused URL.
func egressSentence(err error) string {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return blocked.Error()
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return "Patchbay can't send to this address."
}

// newEvent returns an audit entry of a webhook. It holds the host only, for the rest of a URL may be a secret.
func newEvent(a auth.Actor, action string, w connectors.Webhook) store.Event {
	e := a.Event(action, w.Name)
	e.Detail = map[string]any{"webhook_id": w.ID.String(), "host": hostName(w.URL), "enabled": w.Enabled, "format": w.Format, "kinds": w.Kinds}
	return e
}
