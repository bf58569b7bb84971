package store

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// WebhookSecrets are what signs for a webhook. Their JSON form is stored under the seal: its names never change.
type WebhookSecrets struct {
	Now    secret.Text
	Before secret.Text // signs, too, until BeforeUntil; empty: there is none
	Until  time.Time
}

type sealedSecrets struct {
	Now    string     `json:"now"`
	Before string     `json:"before,omitempty"`
	Until  *time.Time `json:"until,omitempty"`
}

// CreateWebhook stores a webhook with its secret, under a new id.
func (t *Tenant) CreateWebhook(ctx context.Context, w connectors.Webhook, s WebhookSecrets) (made connectors.Webhook, err error) {
	plain, err := s.encode()
	if err != nil {
		return made, err
	}
	p := dbgen.CreateWebhookParams{
		TenantID: t.id, ID: connectors.WebhookID{UUID: newID()}, Name: clean(w.Name), Url: clean(w.URL), Kinds: kindTexts(w.Kinds),
	}
	err = t.storing(ctx, plain, webhookPlace(t.id, p.ID), func(sealed []byte) error {
		p.Sealed = sealed
		row, err := t.q.CreateWebhook(ctx, p)
		made = webhookOf(row)
		return err
	})
	return made, err
}

// Webhooks lists the tenant's webhooks, the oldest first.
func (t *Tenant) Webhooks(ctx context.Context, p Page) (List[connectors.Webhook], error) {
	after, err := p.afterID("webhooks")
	if err != nil {
		return List[connectors.Webhook]{}, err
	}
	rows, err := t.q.Webhooks(ctx, t.id, after, p.rows())
	if err != nil {
		return List[connectors.Webhook]{}, err
	}
	return listOf(p, rows, webhookOf, "webhooks", func(r dbgen.Webhook) []string { return []string{r.ID.String()} }), nil
}

// CountWebhooks is how many webhooks the tenant has.
func (t *Tenant) CountWebhooks(ctx context.Context) (int, error) {
	n, err := t.q.CountWebhooks(ctx, t.id)
	return int(n), err
}

// Webhook is one webhook.
func (t *Tenant) Webhook(ctx context.Context, id connectors.WebhookID) (connectors.Webhook, error) {
	row, err := t.q.Webhook(ctx, t.id, id)
	return webhookOf(row), found(err, "webhook")
}

// UpdateWebhook stores its name, address and kinds, and whether it is on. Where it is turned off, nothing of it waits any more.
func (t *Tenant) UpdateWebhook(ctx context.Context, w connectors.Webhook) (updated connectors.Webhook, err error) {
	err = t.within(ctx, func(tx *Tenant) error {
		row, err := tx.q.UpdateWebhook(ctx, dbgen.UpdateWebhookParams{
			TenantID: tx.id, ID: w.ID, Name: clean(w.Name), Url: clean(w.URL), Kinds: kindTexts(w.Kinds), Enabled: w.Enabled,
		})
		if updated = webhookOf(row); err != nil || w.Enabled {
			return found(err, "webhook")
		}
		return tx.q.CancelDeliveries(ctx, tx.id, w.ID)
	})
	return updated, err
}

// DisableWebhook turns a webhook off because of what its receiver did, and tells whether it was on. Nothing of it waits any more.
func (t *Tenant) DisableWebhook(ctx context.Context, id connectors.WebhookID, why connectors.WebhookEnd) (bool, error) {
	off := false
	err := t.within(ctx, func(tx *Tenant) error {
		n, err := tx.q.DisableWebhook(ctx, why, tx.id, id)
		if off = n > 0; err != nil || !off {
			return err
		}
		return tx.q.CancelDeliveries(ctx, tx.id, id)
	})
	return off && err == nil, err
}

// DeleteWebhook deletes a webhook and its deliveries.
func (t *Tenant) DeleteWebhook(ctx context.Context, id connectors.WebhookID) error {
	n, err := t.q.DeleteWebhook(ctx, t.id, id)
	return touched(n, err, "webhook")
}

// SetWebhookSecrets seals and stores other secrets of a webhook.
func (t *Tenant) SetWebhookSecrets(ctx context.Context, id connectors.WebhookID, s WebhookSecrets) (w connectors.Webhook, err error) {
	plain, err := s.encode()
	if err != nil {
		return w, err
	}
	p := dbgen.SetWebhookSecretsParams{TenantID: t.id, ID: id}
	if !s.Before.Empty() {
		p.RotatingUntil = &s.Until
	}
	err = t.storing(ctx, plain, webhookPlace(t.id, id), func(sealed []byte) error {
		p.Sealed = sealed
		row, err := t.q.SetWebhookSecrets(ctx, p)
		w = webhookOf(row)
		return found(err, "webhook")
	})
	return w, err
}

// WebhookSecrets opens what signs for a webhook.
func (v *Vault) WebhookSecrets(ctx context.Context, id connectors.WebhookID) (connectors.Webhook, WebhookSecrets, error) {
	row, err := v.q.Webhook(ctx, v.id, id)
	if err != nil {
		return connectors.Webhook{}, WebhookSecrets{}, found(err, "webhook")
	}
	plain, err := v.keyring.Open(row.Sealed, webhookPlace(v.id, id))
	if err != nil {
		return connectors.Webhook{}, WebhookSecrets{}, fault.Wrap(fault.Internal, err, "The webhook's stored secret cannot be opened. Make a new one.")
	}
	s, err := decodeSecrets(plain)
	return webhookOf(row), s, err
}

func (s WebhookSecrets) encode() (secret.Text, error) {
	form := sealedSecrets{Now: s.Now.Reveal(), Before: s.Before.Reveal()}
	if !s.Before.Empty() {
		form.Until = &s.Until
	}
	b, err := json.Marshal(form)
	return secret.Text(b), err
}

func decodeSecrets(plain secret.Text) (WebhookSecrets, error) {
	var form sealedSecrets
	if json.Unmarshal([]byte(plain.Reveal()), &form) != nil { // the cause could quote the secret
		return WebhookSecrets{}, fault.Errorf(fault.Internal, "The webhook's stored secret cannot be read. Make a new one.")
	}
	s := WebhookSecrets{Now: secret.Text(form.Now), Before: secret.Text(form.Before)}
	if form.Until != nil {
		s.Until = form.Until.UTC()
	}
	return s, nil
}

// webhookPlace names whose secret it is. It is shown to nobody, wherever the webhook leads: it only signs.
func webhookPlace(tenant connectors.TenantID, id connectors.WebhookID) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "webhooks", Column: "sealed", Row: id.String()}
}

func kindTexts(kinds []connectors.NoticeKind) []string {
	texts := make([]string, len(kinds))
	for i, k := range kinds {
		texts[i] = string(k)
	}
	return texts
}

func webhookOf(r dbgen.Webhook) connectors.Webhook {
	w := connectors.Webhook{
		ID: r.ID, Name: r.Name, URL: r.Url, Enabled: r.Enabled, DisabledWhy: r.DisabledWhy, Failures: int(r.Failures),
		FailingSince: utc(r.FailingSince), DeliveredAt: utc(r.DeliveredAt), RotatingUntil: utc(r.RotatingUntil),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	for _, k := range r.Kinds {
		w.Kinds = append(w.Kinds, connectors.NoticeKind(k))
	}
	return w
}
