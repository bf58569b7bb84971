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

// Create stores a webhook, which is on, and returns the secret that signs: here and never again.
func (p *Post) Create(ctx context.Context, a auth.Actor, w connectors.Webhook) (connectors.Webhook, secret.Text, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Webhook{}, "", err
	}
	w = w.Normalized()
	if err := p.check(w, ""); err != nil {
		return connectors.Webhook{}, "", err
	}
	text := newSecret()
	var made connectors.Webhook
	err := p.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		n, err := tx.CountWebhooks(ctx)
		if err != nil {
			return err
		}
		if n >= connectors.MaxWebhooks {
			return fault.Errorf(fault.Conflict, "There are %d webhooks, and more than that are not kept. Delete one first.", n)
		}
		if made, err = tx.CreateWebhook(ctx, w, store.WebhookSecrets{Now: text}); err != nil {
			return err
		}
		return tx.RecordChange(ctx, event(a, "webhook.create", made), nil, store.OfWebhook(made.ID))
	})
	if err != nil {
		return connectors.Webhook{}, "", err
	}
	return made, text, nil
}

// Change says what of a webhook becomes another; nil: it stays.
type Change struct {
	Name    *string
	URL     *string
	Kinds   *[]connectors.NoticeKind // empty: all
	Enabled *bool
}

func (c Change) apply(w connectors.Webhook) connectors.Webhook {
	set(&w.Name, c.Name)
	set(&w.URL, c.URL)
	set(&w.Kinds, c.Kinds)
	set(&w.Enabled, c.Enabled)
	return w.Normalized()
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// Update changes a webhook. One that is turned off forgets what waits; one that is turned on begins anew.
func (p *Post) Update(ctx context.Context, a auth.Actor, id connectors.WebhookID, c Change) (updated connectors.Webhook, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return updated, err
	}
	err = p.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, store.OfWebhook(id))
		if err != nil {
			return err
		}
		old, err := tx.Webhook(ctx, id)
		if err != nil {
			return err
		}
		w := c.apply(old)
		if err := p.check(w, old.URL); err != nil {
			return err
		}
		if updated, err = tx.UpdateWebhook(ctx, w); err != nil {
			return err
		}
		return tx.RecordChange(ctx, event(a, "webhook.update", updated), was, store.OfWebhook(id))
	})
	return updated, err
}

// Delete deletes a webhook, and what it was told.
func (p *Post) Delete(ctx context.Context, a auth.Actor, id connectors.WebhookID) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return p.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		w, err := tx.Webhook(ctx, id)
		if err != nil {
			return err
		}
		was, err := tx.Before(ctx, store.OfWebhook(id))
		if err != nil {
			return err
		}
		if err := tx.DeleteWebhook(ctx, id); err != nil {
			return err
		}
		return tx.RecordChange(ctx, event(a, "webhook.delete", w), was, store.OfWebhook(id))
	})
}

// check tells what is wrong with a webhook. An address that was there before is looked at where something is sent.
func (p *Post) check(w connectors.Webhook, before string) error {
	fields := w.Validate()
	if w.URL != "" && w.URL != before {
		if _, err := p.checkURL(w.URL); err != nil {
			fields = append(fields, fault.Field{Location: "url", Message: egressSentence(err)})
		}
	}
	return fault.InvalidFields(fields...)
}

// egressSentence is what a person is told of a refused address.
func egressSentence(err error) string {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return blocked.Error()
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return "This is no address that Patchbay can send to."
}

// event is about a webhook: the host where it leads, for the rest of an address may be a secret, and never what signs.
func event(a auth.Actor, action string, w connectors.Webhook) store.Event {
	e := a.Event(action, w.Name)
	e.Detail = map[string]any{"webhook_id": w.ID.String(), "host": hostOf(w.URL), "enabled": w.Enabled, "kinds": w.Kinds}
	return e
}
