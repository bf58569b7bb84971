package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/webhooks"
)

// deliveryJSON is one delivery of a notice.
type deliveryJSON struct {
	ID         string     `json:"id" format:"uuid"`
	MessageID  string     `json:"message_id" doc:"The webhook-id that receivers see, the same for every attempt."`
	NoticeID   *string    `json:"notice_id" format:"uuid" doc:"Null for tests, and for events without a notice."`
	Type       string     `json:"type"`
	State      string     `json:"state" enum:"waiting,delivered,failed,cancelled"`
	Tries      int        `json:"tries"`
	CreatedAt  time.Time  `json:"created_at"`
	TriedAt    *time.Time `json:"tried_at" doc:"Last attempt. Null if none."`
	NextAt     *time.Time `json:"next_at" doc:"Next attempt. Null if none."`
	Status     *int       `json:"status" doc:"HTTP status of the last attempt. Null without a response."`
	Error      *string    `json:"error" doc:"Error of the last attempt. Null if none."`
	DurationMS *int64     `json:"duration_ms" doc:"Duration of the last attempt. Null if none."`
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
		TriedAt:   toUTC(d.TriedAt),
		NextAt:    toUTC(d.NextAt),
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
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks/{id}/test", id: "testWebhook", tag: tag,
		summary: "Send a test event once and return the delivery", permission: connectors.PermManage, status: http.StatusOK,
	}, h.testWebhook)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/webhooks/{id}/deliveries", id: "listDeliveries", tag: tag,
		summary: "List a webhook's deliveries, newest first", permission: connectors.PermManage,
	}, h.listDeliveries)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver", id: "redeliver", tag: tag,
		summary: "Resend a delivery with the same id", permission: connectors.PermManage, status: http.StatusOK,
	}, h.redeliverNotice)
}

func (h *Handler) testWebhook(ctx context.Context, actor auth.Actor, in *WebhookPath) (*response[deliveryJSON], error) {
	w, err := findWebhook(ctx, h.store.Tenant(actor.Tenant.ID).Webhooks(), *in)
	if err != nil {
		return nil, err
	}
	d, err := h.webhooks.Test(ctx, actor, w.ID)
	if err != nil {
		return nil, err
	}
	return &response[deliveryJSON]{Body: viewDelivery(d)}, nil
}

func (h *Handler) listDeliveries(ctx context.Context, actor auth.Actor, in *listDeliveriesInput) (*response[list[deliveryJSON]], error) {
	var page store.List[connectors.Delivery]
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		w, err := findWebhook(ctx, tx.Webhooks(), in.WebhookPath)
		if err != nil {
			return err
		}
		page, err = tx.Webhooks().Deliveries(ctx, w.ID, in.toPage())
		return err
	})
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewDelivery), nil
}

func (h *Handler) redeliverNotice(ctx context.Context, actor auth.Actor, in *deliveryPath) (*response[deliveryJSON], error) {
	w, err := findWebhook(ctx, h.store.Tenant(actor.Tenant.ID).Webhooks(), in.WebhookPath)
	if err != nil {
		return nil, err
	}
	id, ok := connectors.Ref(in.Delivery).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "No such delivery.")
	}
	d, err := h.webhooks.Redeliver(ctx, actor, w.ID, connectors.DeliveryID{UUID: id})
	if err != nil {
		return nil, err
	}
	return &response[deliveryJSON]{Body: viewDelivery(d)}, nil
}
