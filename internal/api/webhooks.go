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
	Format         string     `json:"format" enum:"json,slack,teams" doc:"Body format: signed JSON, or a chat message."`
	Kinds          []string   `json:"kinds" nullable:"false" doc:"Notices and events to send. Empty: all notices, except connector.list_changed and connector.message, which must be listed."`
	Enabled        bool       `json:"enabled"`
	State          string     `json:"state" enum:"active,failing,disabled" doc:"failing: the last attempt failed."`
	DisabledReason *string    `json:"disabled_reason" doc:"Why Patchbay disabled it: gone (410 response) or failing (three days without success). Null if it did not."`
	Failures       int        `json:"failures" doc:"Failed attempts since the last success."`
	FailingSince   *time.Time `json:"failing_since" doc:"Null if the last attempt succeeded."`
	DeliveredAt    *time.Time `json:"delivered_at" doc:"Last success, excluding tests. Null if none."`
	RotatingUntil  *time.Time `json:"rotating_until" doc:"Until when the previous secret also signs. Null if there is none."`
	CreatedAt      time.Time  `json:"created_at"`
	UpdatedAt      time.Time  `json:"updated_at"`
	Secret         string     `json:"secret,omitempty" doc:"Signing secret (whsec_…), only in the response that creates it."`
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
	URL    string   `json:"url" doc:"The URL to POST to."`
	Format string   `json:"format,omitempty" doc:"json, slack or teams. Default: json."`
	Kinds  []string `json:"kinds,omitempty" doc:"Notices and events to send. Absent or empty: all notices, except connector.list_changed and connector.message."`
}

// webhookPatch changes a webhook. An absent field keeps its value.
type webhookPatch struct {
	Name    *string   `json:"name,omitempty"`
	URL     *string   `json:"url,omitempty"`
	Format  *string   `json:"format,omitempty" doc:"json, slack or teams."`
	Kinds   *[]string `json:"kinds,omitempty" doc:"Notices and events to send. Empty: all notices, except connector.list_changed and connector.message."`
	Enabled *bool     `json:"enabled,omitempty" doc:"false: waiting deliveries are cancelled. true: starts fresh."`
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
		summary: "List webhooks, oldest first", permission: connectors.PermManage,
	}, h.listWebhooks)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks", id: "createWebhook", tag: tag,
		summary: "Create a webhook; its secret is shown once", permission: connectors.PermManage, status: http.StatusCreated,
		description: "Deliveries are signed with Standard Webhooks (standardwebhooks.com): headers webhook-id, webhook-timestamp and " +
			"webhook-signature, body {type, timestamp, data}. Delivered at least once under one id, in any order.",
	}, h.createWebhook)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/webhooks/{id}", id: "getWebhook", tag: tag,
		summary: "Get a webhook", permission: connectors.PermManage,
	}, h.getWebhook)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/webhooks/{id}", id: "updateWebhook", tag: tag,
		summary: "Update, enable or disable a webhook", permission: connectors.PermManage,
	}, h.updateWebhook)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/webhooks/{id}", id: "deleteWebhook", tag: tag,
		summary: "Delete a webhook and its deliveries", permission: connectors.PermManage,
	}, h.deleteWebhook)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks/{id}/rotate_secret", id: "rotateWebhookSecret", tag: tag,
		summary: "Rotate the secret, shown once; the previous one also signs for a day", permission: connectors.PermManage, status: http.StatusOK,
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
