package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/webhooks"
)

// deliveryJSON is what a webhook is told of one notice.
type deliveryJSON struct {
	ID         string     `json:"id" format:"uuid"`
	MessageID  string     `json:"message_id" doc:"What its receiver sees as webhook-id, the same at each try."`
	NoticeID   *string    `json:"notice_id" format:"uuid" doc:"Null: a test."`
	Type       string     `json:"type"`
	State      string     `json:"state" enum:"waiting,delivered,failed,cancelled"`
	Tries      int        `json:"tries"`
	CreatedAt  time.Time  `json:"created_at"`
	TriedAt    *time.Time `json:"tried_at" doc:"The last try; null: there was none."`
	NextAt     *time.Time `json:"next_at" doc:"The next try; null: there is none."`
	Status     *int       `json:"status" doc:"HTTP's, of the last try; null: there was no answer."`
	Error      *string    `json:"error" doc:"What went wrong at the last try, in a sentence; null: nothing."`
	DurationMS *int64     `json:"duration_ms" doc:"Of the last try; null: there was none."`
}

func viewDelivery(d connectors.Delivery) deliveryJSON {
	out := deliveryJSON{
		ID:        d.ID.String(),
		MessageID: webhooks.MessageID(d.ID),
		NoticeID:  idText(d.NoticeID),
		Type:      string(d.Kind),
		State:     string(d.State),
		Tries:     d.Tries,
		CreatedAt: d.CreatedAt.UTC(),
		TriedAt:   utc(d.TriedAt),
		NextAt:    utc(d.NextAt),
	}
	if d.Status != 0 {
		out.Status = &d.Status
	}
	if d.Error != "" {
		out.Error = &d.Error
	}
	if d.TriedAt != nil {
		out.DurationMS = new(d.Duration.Milliseconds())
	}
	return out
}

type listDeliveriesInput struct {
	WebhookPath
	Paging
}

type deliveryPath struct {
	WebhookPath
	Delivery string `path:"delivery" doc:"A delivery's id."`
}

func (h *Handler) mountDeliveries(tag string) {
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks/{id}/test", id: "testWebhook", tag: tag,
		summary: "Send a test now, once, and say what came of it", may: connectors.PermManage, status: http.StatusOK,
	}, h.testWebhook)
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/webhooks/{id}/deliveries", id: "listDeliveries", tag: tag,
		summary: "List what a webhook was told, the latest first", may: connectors.PermManage,
	}, h.listDeliveries)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver", id: "redeliver", tag: tag,
		summary: "Send a delivery again, under its own id", may: connectors.PermManage, status: http.StatusOK,
	}, h.redeliver)
}

func (h *Handler) testWebhook(ctx context.Context, who auth.Actor, in *WebhookPath) (*answer[deliveryJSON], error) {
	w, err := h.webhook(ctx, who, *in)
	if err != nil {
		return nil, err
	}
	d, err := h.webhooks.Test(ctx, who, w.ID)
	if err != nil {
		return nil, err
	}
	return &answer[deliveryJSON]{Body: viewDelivery(d)}, nil
}

func (h *Handler) listDeliveries(ctx context.Context, who auth.Actor, in *listDeliveriesInput) (*answer[list[deliveryJSON]], error) {
	w, err := h.webhook(ctx, who, in.WebhookPath)
	if err != nil {
		return nil, err
	}
	page, err := h.store.Tenant(who.Tenant.ID).Deliveries(ctx, w.ID, in.page())
	if err != nil {
		return nil, err
	}
	return listOf(page, viewDelivery), nil
}

func (h *Handler) redeliver(ctx context.Context, who auth.Actor, in *deliveryPath) (*answer[deliveryJSON], error) {
	w, err := h.webhook(ctx, who, in.WebhookPath)
	if err != nil {
		return nil, err
	}
	id, ok := connectors.Ref(in.Delivery).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "There is no such delivery.")
	}
	d, err := h.webhooks.Redeliver(ctx, who, w.ID, connectors.DeliveryID{UUID: id})
	if err != nil {
		return nil, err
	}
	return &answer[deliveryJSON]{Body: viewDelivery(d)}, nil
}
