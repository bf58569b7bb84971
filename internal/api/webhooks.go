package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/webhooks"
)

// webhookJSON is a webhook, without its signing secret.
type webhookJSON struct {
	ID             string     `json:"id" format:"uuid"`
	Name           string     `json:"name"`
	URL            string     `json:"url"`
	Format         string     `json:"format" enum:"json,slack,teams" doc:"The body: signed JSON, or the message of a chat."`
	Kinds          []string   `json:"kinds" nullable:"false" doc:"Of notices and events that it is told of; empty: of all notices, but not of connector.list_changed and connector.message, which must be named."`
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
		Format:        string(w.Format),
		Kinds:         []string{},
		Enabled:       w.Enabled,
		State:         string(w.State()),
		Failures:      w.Failures,
		FailingSince:  toUTC(w.FailingSince),
		DeliveredAt:   toUTC(w.DeliveredAt),
		RotatingUntil: toUTC(w.RotatingUntil),
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

func madeWebhook(w connectors.Webhook, text secret.Text) *response[webhookJSON] {
	out := viewWebhook(w)
	out.Secret = text.Reveal()
	return &response[webhookJSON]{Body: out}
}

type webhookCreate struct {
	Name   string   `json:"name"`
	URL    string   `json:"url" doc:"Where it is told, by POST."`
	Format string   `json:"format,omitempty" doc:"json, slack or teams; absent: json."`
	Kinds  []string `json:"kinds,omitempty" doc:"Of notices and events; absent or empty: of all notices, but not of connector.list_changed and connector.message."`
}

// webhookPatch changes a webhook. An absent field keeps its value.
type webhookPatch struct {
	Name    *string   `json:"name,omitempty"`
	URL     *string   `json:"url,omitempty"`
	Format  *string   `json:"format,omitempty" doc:"json, slack or teams."`
	Kinds   *[]string `json:"kinds,omitempty" doc:"Of notices and events; empty: of all notices, but not of connector.list_changed and connector.message."`
	Enabled *bool     `json:"enabled,omitempty" doc:"Off: what waits is cancelled. On: it begins anew."`
}

func (p webhookPatch) toChange() webhooks.Change {
	c := webhooks.Change{Name: p.Name, URL: p.URL, Enabled: p.Enabled}
	if p.Format != nil {
		c.Format = new(connectors.WebhookFormat(*p.Format))
	}
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

// WebhookPath is the path of a webhook.
type WebhookPath struct {
	ID string `path:"id" doc:"A webhook's id."`
}

// findWebhook finds the webhook in the path. NotFound comes before errors of the body.
func findWebhook(ctx context.Context, tenant store.Webhooks, p WebhookPath) (connectors.Webhook, error) {
	id, ok := connectors.Ref(p.ID).UUID()
	if !ok {
		return connectors.Webhook{}, fault.Errorf(fault.NotFound, "No such webhook.")
	}
	return tenant.Get(ctx, connectors.WebhookID{UUID: id})
}

func (h *Handler) mountWebhooks() {
	const tag = "Webhooks"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/webhooks", id: "listWebhooks", tag: tag,
		summary: "List the webhooks, the oldest first", permission: connectors.PermManage,
	}, h.listWebhooks)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks", id: "createWebhook", tag: tag,
		summary: "Make a webhook; its secret is shown once", permission: connectors.PermManage, status: http.StatusCreated,
		description: "What it is told is signed as Standard Webhooks says (standardwebhooks.com): headers webhook-id, webhook-timestamp and " +
			"webhook-signature over a body of {type, timestamp, data}. It is told at least once, under one id, and in no order.",
	}, h.createWebhook)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/webhooks/{id}", id: "getWebhook", tag: tag,
		summary: "Read a webhook", permission: connectors.PermManage,
	}, h.getWebhook)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/webhooks/{id}", id: "updateWebhook", tag: tag,
		summary: "Change a webhook, or turn it on or off", permission: connectors.PermManage,
	}, h.updateWebhook)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/webhooks/{id}", id: "deleteWebhook", tag: tag,
		summary: "Delete a webhook, and what it was told", permission: connectors.PermManage,
	}, h.deleteWebhook)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks/{id}/rotate_secret", id: "rotateWebhookSecret", tag: tag,
		summary: "Make a new secret, shown once; for a day the one before signs, too", permission: connectors.PermManage, status: http.StatusOK,
	}, h.rotateWebhookSecret)
	h.mountDeliveries(tag)
}

func (h *Handler) listWebhooks(ctx context.Context, actor auth.Actor, in *Paging) (*response[list[webhookJSON]], error) {
	page, err := h.store.Tenant(actor.Tenant.ID).Webhooks().List(ctx, in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewWebhook), nil
}

func (h *Handler) createWebhook(ctx context.Context, actor auth.Actor, in *struct{ JSON requestBody[webhookCreate] }) (*response[webhookJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	created, text, err := h.webhooks.Create(ctx, actor, connectors.Webhook{Name: doc.Name, URL: doc.URL, Format: connectors.WebhookFormat(doc.Format), Kinds: noticeKinds(doc.Kinds)})
	if err != nil {
		return nil, err
	}
	return madeWebhook(created, text), nil
}

func (h *Handler) getWebhook(ctx context.Context, actor auth.Actor, in *WebhookPath) (*response[webhookJSON], error) {
	w, err := findWebhook(ctx, h.store.Tenant(actor.Tenant.ID).Webhooks(), *in)
	if err != nil {
		return nil, err
	}
	return &response[webhookJSON]{Body: viewWebhook(w)}, nil
}

type updateWebhookInput struct {
	WebhookPath
	JSON requestBody[webhookPatch]
}

func (h *Handler) updateWebhook(ctx context.Context, actor auth.Actor, in *updateWebhookInput) (*response[webhookJSON], error) {
	w, err := findWebhook(ctx, h.store.Tenant(actor.Tenant.ID).Webhooks(), in.WebhookPath)
	if err != nil {
		return nil, err
	}
	patch, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	if w, err = h.webhooks.Update(ctx, actor, w.ID, patch.toChange()); err != nil {
		return nil, err
	}
	return &response[webhookJSON]{Body: viewWebhook(w)}, nil
}

func (h *Handler) deleteWebhook(ctx context.Context, actor auth.Actor, in *WebhookPath) (*noContent, error) {
	w, err := findWebhook(ctx, h.store.Tenant(actor.Tenant.ID).Webhooks(), *in)
	if err != nil {
		return nil, err
	}
	return nil, h.webhooks.Delete(ctx, actor, w.ID)
}

func (h *Handler) rotateWebhookSecret(ctx context.Context, actor auth.Actor, in *WebhookPath) (*response[webhookJSON], error) {
	w, err := findWebhook(ctx, h.store.Tenant(actor.Tenant.ID).Webhooks(), *in)
	if err != nil {
		return nil, err
	}
	rotated, text, err := h.webhooks.RotateSecret(ctx, actor, w.ID)
	if err != nil {
		return nil, err
	}
	return madeWebhook(rotated, text), nil
}
