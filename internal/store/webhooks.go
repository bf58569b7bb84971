package store

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// WebhookSecrets are a webhook's signing secrets. Their JSON form is stored sealed, so its names never change.
type WebhookSecrets struct {
	Now    secret.Text
	Before secret.Text // also signs until BeforeUntil; empty: none
	Until  time.Time
}

type sealedSecrets struct {
	Now    string     `json:"now"`
	Before string     `json:"before,omitempty"`
	Until  *time.Time `json:"until,omitempty"`
}

// Create stores a webhook with its secret, under a new id.
func (t Webhooks) Create(ctx context.Context, w connectors.Webhook, s WebhookSecrets) (made connectors.Webhook, err error) {
	plain, err := s.encodeSecrets()
	if err != nil {
		return made, err
	}
	p := dbgen.CreateWebhookParams{
		TenantID: t.id, ID: connectors.WebhookID{UUID: newID()}, Name: cleanText(w.Name), Url: cleanText(w.URL), Format: cmp.Or(w.Format, connectors.WebhookJSON), Kinds: kindTexts(w.Kinds),
	}
	err = t.sealAndRetry(ctx, plain, webhookSecretAD(t.id, p.ID), func(sealed []byte) error {
		p.Sealed = sealed
		row, err := t.q.CreateWebhook(ctx, p)
		made = toWebhook(row)
		return err
	})
	return made, err
}

// List lists the tenant's webhooks, the oldest first.
func (t Webhooks) List(ctx context.Context, p Page) (List[connectors.Webhook], error) {
	after, err := p.afterID("webhooks")
	if err != nil {
		return List[connectors.Webhook]{}, err
	}
	rows, err := t.q.Webhooks(ctx, t.id, after, p.rowLimit())
	if err != nil {
		return List[connectors.Webhook]{}, err
	}
	return newList(p, rows, toWebhook, "webhooks", func(r dbgen.Webhook) []string { return []string{r.ID.String()} }), nil
}

// Count is how many webhooks the tenant has.
func (t Webhooks) Count(ctx context.Context) (int, error) {
	n, err := t.q.CountWebhooks(ctx, t.id)
	return int(n), err
}

// Get reads one webhook.
func (t Webhooks) Get(ctx context.Context, id connectors.WebhookID) (connectors.Webhook, error) {
	row, err := t.q.Webhook(ctx, t.id, id)
	return toWebhook(row), rowError(err, "webhook")
}

// Update stores a webhook's name, URL, format, kinds and whether it is enabled. Disabling it cancels its
// deliveries.
func (t Webhooks) Update(ctx context.Context, w connectors.Webhook) (updated connectors.Webhook, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		row, err := tx.q.UpdateWebhook(ctx, dbgen.UpdateWebhookParams{
			TenantID: tx.id, ID: w.ID, Name: cleanText(w.Name), Url: cleanText(w.URL), Format: w.Format, Kinds: kindTexts(w.Kinds), Enabled: w.Enabled,
		})
		if updated = toWebhook(row); err != nil || w.Enabled {
			return rowError(err, "webhook")
		}
		return tx.q.CancelDeliveries(ctx, tx.id, w.ID)
	})
	return updated, err
}

// Disable disables a webhook because of its receiver, cancels its deliveries, and reports whether it was
// enabled.
func (t Webhooks) Disable(ctx context.Context, id connectors.WebhookID, why connectors.WebhookEnd) (bool, error) {
	off := false
	err := t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.DisableWebhook(ctx, why, tx.id, id)
		if off = n > 0; err != nil || !off {
			return err
		}
		return tx.q.CancelDeliveries(ctx, tx.id, id)
	})
	return off && err == nil, err
}

// Delete deletes a webhook and its deliveries.
func (t Webhooks) Delete(ctx context.Context, id connectors.WebhookID) error {
	n, err := t.q.DeleteWebhook(ctx, t.id, id)
	return affectedError(n, err, "webhook")
}

// SetSecrets seals and stores new secrets.
func (t Webhooks) SetSecrets(ctx context.Context, id connectors.WebhookID, s WebhookSecrets) (w connectors.Webhook, err error) {
	plain, err := s.encodeSecrets()
	if err != nil {
		return w, err
	}
	p := dbgen.SetWebhookSecretsParams{TenantID: t.id, ID: id}
	if !s.Before.Empty() {
		p.RotatingUntil = &s.Until
	}
	err = t.sealAndRetry(ctx, plain, webhookSecretAD(t.id, id), func(sealed []byte) error {
		p.Sealed = sealed
		row, err := t.q.SetWebhookSecrets(ctx, p)
		w = toWebhook(row)
		return rowError(err, "webhook")
	})
	return w, err
}

// WebhookSecrets opens a webhook's secrets.
func (v *Vault) WebhookSecrets(ctx context.Context, id connectors.WebhookID) (connectors.Webhook, WebhookSecrets, error) {
	row, err := v.q.Webhook(ctx, v.id, id)
	if err != nil {
		return connectors.Webhook{}, WebhookSecrets{}, rowError(err, "webhook")
	}
	plain, err := v.keyring.Open(row.Sealed, webhookSecretAD(v.id, id))
	if err != nil {
		return connectors.Webhook{}, WebhookSecrets{}, fault.Wrap(fault.Internal, err, "The webhook's stored secret can't be decrypted. Create a new one.")
	}
	s, err := decodeSecrets(plain)
	return toWebhook(row), s, err
}

func (s WebhookSecrets) encodeSecrets() (secret.Text, error) {
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
		return WebhookSecrets{}, fault.Errorf(fault.Internal, "The webhook's stored secret can't be read. Create a new one.")
	}
	s := WebhookSecrets{Now: secret.Text(form.Now), Before: secret.Text(form.Before)}
	if form.Until != nil {
		s.Until = form.Until.UTC()
	}
	return s, nil
}

// webhookSecretAD binds secrets to their webhook. They only sign and are never sent, so the URL does not
// matter.
func webhookSecretAD(tenant connectors.TenantID, id connectors.WebhookID) secret.AD {
	return secret.AD{Tenant: tenant.String(), Table: "webhooks", Column: "sealed", Row: id.String()}
}

func kindTexts(kinds []connectors.NoticeKind) []string {
	texts := make([]string, len(kinds))
	for i, k := range kinds {
		texts[i] = string(k)
	}
	return texts
}

func toWebhook(r dbgen.Webhook) connectors.Webhook {
	w := connectors.Webhook{
		ID: r.ID, Name: r.Name, URL: r.Url, Format: r.Format, Enabled: r.Enabled, DisabledWhy: r.DisabledWhy, Failures: int(r.Failures),
		FailingSince: toUTC(r.FailingSince), DeliveredAt: toUTC(r.DeliveredAt), RotatingUntil: toUTC(r.RotatingUntil),
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	for _, k := range r.Kinds {
		w.Kinds = append(w.Kinds, connectors.NoticeKind(k))
	}
	return w
}
