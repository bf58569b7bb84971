package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/webhooks"
)

// webhookJSON is who is told of notices, without what signs.
type webhookJSON struct {
	ID             string     `json:"id" format:"uuid"`
	Name           string     `json:"name"`
	URL            string     `json:"url"`
	Kinds          []string   `json:"kinds" nullable:"false" doc:"Of notices that it is told of; empty: of all."`
	Enabled        bool       `json:"enabled"`
	State          string     `json:"state" enum:"active,failing,disabled" doc:"failing: the last try did not arrive."`
	DisabledReason *string    `json:"disabled_reason" doc:"Why Patchbay turned it off: gone (it answered 410) or failing (nothing arrived for three days); null: it did not."`
	Failures       int        `json:"failures" doc:"Tries since the last that arrived."`
	FailingSince   *time.Time `json:"failing_since" doc:"Null: the last try arrived."`
	DeliveredAt    *time.Time `json:"delivered_at" doc:"The last that arrived, tests left out; null: none has."`
	RotatingUntil  *time.Time `json:"rotating_until" doc:"Until then the secret before signs, too; null: there was none."`
	CreatedAt      time.Time  `json:"created_at"`
	UpdatedAt      time.Time  `json:"updated_at"`
	Secret         string     `json:"secret,omitempty" doc:"What signs (whsec_…); only in the answer that makes it."`
}

func viewWebhook(w connectors.Webhook) webhookJSON {
	out := webhookJSON{
		ID:            w.ID.String(),
		Name:          w.Name,
		URL:           w.URL,
		Kinds:         []string{},
		Enabled:       w.Enabled,
		State:         string(w.State()),
		Failures:      w.Failures,
		FailingSince:  utc(w.FailingSince),
		DeliveredAt:   utc(w.DeliveredAt),
		RotatingUntil: utc(w.RotatingUntil),
		CreatedAt:     w.CreatedAt.UTC(),
		UpdatedAt:     w.UpdatedAt.UTC(),
	}
	for _, k := range w.Kinds {
		out.Kinds = append(out.Kinds, string(k))
	}
	if w.DisabledWhy != connectors.WebhookOnOrOff {
		out.DisabledReason = new(string(w.DisabledWhy))
	}
	return out
}

func madeWebhook(w connectors.Webhook, text secret.Text) *answer[webhookJSON] {
	out := viewWebhook(w)
	out.Secret = text.Reveal()
	return &answer[webhookJSON]{Body: out}
}

// webhookCreate describes a new webhook.
type webhookCreate struct {
	Name  string   `json:"name"`
	URL   string   `json:"url" doc:"Where it is told, by POST."`
	Kinds []string `json:"kinds,omitempty" doc:"Of notices; absent or empty: of all."`
}

// webhookPatch changes a webhook. An absent field keeps what it has.
type webhookPatch struct {
	Name    *string   `json:"name,omitempty"`
	URL     *string   `json:"url,omitempty"`
	Kinds   *[]string `json:"kinds,omitempty" doc:"Of notices; empty: of all."`
	Enabled *bool     `json:"enabled,omitempty" doc:"Off: what waits is cancelled. On: it begins anew."`
}

func (p webhookPatch) change() webhooks.Change {
	c := webhooks.Change{Name: p.Name, URL: p.URL, Enabled: p.Enabled}
	if p.Kinds != nil {
		c.Kinds = new(noticeKinds(*p.Kinds))
	}
	return c
}

func noticeKinds(texts []string) []connectors.NoticeKind {
	kinds := make([]connectors.NoticeKind, len(texts))
	for i, text := range texts {
		kinds[i] = connectors.NoticeKind(text)
	}
	return kinds
}

// WebhookPath names a webhook.
type WebhookPath struct {
	ID string `path:"id" doc:"A webhook's id."`
}

// webhook finds it, so that what is not there is told before what is wrong with a body.
func (h *Handler) webhook(ctx context.Context, who auth.Actor, p WebhookPath) (connectors.Webhook, error) {
	id, ok := connectors.Ref(p.ID).UUID()
	if !ok {
		return connectors.Webhook{}, fault.Errorf(fault.NotFound, "There is no such webhook.")
	}
	return h.store.Tenant(who.Tenant.ID).Webhook(ctx, connectors.WebhookID{UUID: id})
}

func (h *Handler) mountWebhooks() {
	const tag = "Webhooks"
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/webhooks", id: "listWebhooks", tag: tag,
		summary: "List the webhooks, the oldest first", may: connectors.PermManage,
	}, h.listWebhooks)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks", id: "createWebhook", tag: tag,
		summary: "Make a webhook; its secret is shown once", may: connectors.PermManage, status: http.StatusCreated,
		about: "What it is told is signed as Standard Webhooks says (standardwebhooks.com): headers webhook-id, webhook-timestamp and " +
			"webhook-signature over a body of {type, timestamp, data}. It is told at least once, under one id, and in no order.",
	}, h.createWebhook)
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/webhooks/{id}", id: "getWebhook", tag: tag,
		summary: "Read a webhook", may: connectors.PermManage,
	}, h.getWebhook)
	register(h, operation{
		method: http.MethodPatch, path: "/api/v1/webhooks/{id}", id: "updateWebhook", tag: tag,
		summary: "Change a webhook, or turn it on or off", may: connectors.PermManage,
	}, h.updateWebhook)
	register(h, operation{
		method: http.MethodDelete, path: "/api/v1/webhooks/{id}", id: "deleteWebhook", tag: tag,
		summary: "Delete a webhook, and what it was told", may: connectors.PermManage,
	}, h.deleteWebhook)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks/{id}/rotate_secret", id: "rotateWebhookSecret", tag: tag,
		summary: "Make a new secret, shown once; for a day the one before signs, too", may: connectors.PermManage, status: http.StatusOK,
	}, h.rotateWebhookSecret)
	h.mountDeliveries(tag)
}

func (h *Handler) listWebhooks(ctx context.Context, who auth.Actor, in *Paging) (*answer[list[webhookJSON]], error) {
	page, err := h.store.Tenant(who.Tenant.ID).Webhooks(ctx, in.page())
	if err != nil {
		return nil, err
	}
	return listOf(page, viewWebhook), nil
}

func (h *Handler) createWebhook(ctx context.Context, who auth.Actor, in *struct{ JSON document[webhookCreate] }) (*answer[webhookJSON], error) {
	doc, err := in.JSON.read()
	if err != nil {
		return nil, err
	}
	made, text, err := h.webhooks.Create(ctx, who, connectors.Webhook{Name: doc.Name, URL: doc.URL, Kinds: noticeKinds(doc.Kinds)})
	if err != nil {
		return nil, err
	}
	return madeWebhook(made, text), nil
}

func (h *Handler) getWebhook(ctx context.Context, who auth.Actor, in *WebhookPath) (*answer[webhookJSON], error) {
	w, err := h.webhook(ctx, who, *in)
	if err != nil {
		return nil, err
	}
	return &answer[webhookJSON]{Body: viewWebhook(w)}, nil
}

type updateWebhookInput struct {
	WebhookPath
	JSON document[webhookPatch]
}

func (h *Handler) updateWebhook(ctx context.Context, who auth.Actor, in *updateWebhookInput) (*answer[webhookJSON], error) {
	w, err := h.webhook(ctx, who, in.WebhookPath)
	if err != nil {
		return nil, err
	}
	patch, err := in.JSON.read()
	if err != nil {
		return nil, err
	}
	if w, err = h.webhooks.Update(ctx, who, w.ID, patch.change()); err != nil {
		return nil, err
	}
	return &answer[webhookJSON]{Body: viewWebhook(w)}, nil
}

func (h *Handler) deleteWebhook(ctx context.Context, who auth.Actor, in *WebhookPath) (*nothing, error) {
	w, err := h.webhook(ctx, who, *in)
	if err != nil {
		return nil, err
	}
	return nil, h.webhooks.Delete(ctx, who, w.ID)
}

func (h *Handler) rotateWebhookSecret(ctx context.Context, who auth.Actor, in *WebhookPath) (*answer[webhookJSON], error) {
	w, err := h.webhook(ctx, who, *in)
	if err != nil {
		return nil, err
	}
	rotated, text, err := h.webhooks.RotateSecret(ctx, who, w.ID)
	if err != nil {
		return nil, err
	}
	return madeWebhook(rotated, text), nil
}
