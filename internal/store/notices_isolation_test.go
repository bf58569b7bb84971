package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// noticesOf are a tenant's notice, which a person has not read, and its webhook with a delivery that waits.
type noticesOf struct {
	notice   connectors.Notice
	webhook  connectors.Webhook
	delivery connectors.Delivery
}

func (o *outsider) fillNotices(t *testing.T) {
	t.Helper()
	ctx, door := t.Context(), o.Door()
	var err error
	o.webhook, err = door.CreateWebhook(ctx, connectors.Webhook{Name: "Theirs", URL: "https://hooks.example.com/"}, store.WebhookSecrets{Now: "whsec_theirs"})
	if err != nil {
		t.Fatal(err)
	}
	if err := door.AddNotice(ctx, newNotice("theirs")); err != nil {
		t.Fatal(err)
	}
	notices, err := door.Notices(ctx, nil, store.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	deliveries, err := door.Deliveries(ctx, o.webhook.ID, store.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	o.notice, o.delivery = notices.Items[0], deliveries.Items[0]
}

// noticeAttempts are the outsider's at what others are told.
var noticeAttempts = map[string]attempt{
	"AddNotice": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.AddNotice(ctx, newNotice("theirs")); err != nil {
			return false, err
		}
		theirs, err := o.Door().Notices(ctx, nil, store.Page{Limit: 1})
		told, more := o.Door().Deliveries(ctx, o.webhook.ID, store.Page{Limit: 1})
		return theirs.Items[0].Times != 1 || told.Items[0].ID != o.delivery.ID, errors.Join(err, more)
	},
	"Notices": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.Notices(ctx, &o.member.UserID, store.Page{})
		for _, n := range mine.Items {
			if n.ID == o.notice.ID {
				return true, err
			}
		}
		return false, err
	},
	"News": func(ctx context.Context, o outsider) (bool, error) {
		news, err := o.door.News(ctx, &o.member.UserID)
		return news != store.BadgeCounts{}, err
	},
	"ReadNotices": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.ReadNotices(ctx, o.member.UserID, o.notice.ID)
		all, more := o.door.ReadNotices(ctx, o.member.UserID)
		theirs, most := o.Door().News(ctx, &o.member.UserID)
		return n+all > 0 || theirs.Unread == 0, errors.Join(err, more, most)
	},
	"CreateWebhook": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.CreateWebhook(ctx, o.webhook, store.WebhookSecrets{Now: "mine"})
		if err != nil {
			return true, err
		}
		return mine.ID == o.webhook.ID, o.door.DeleteWebhook(ctx, mine.ID)
	},
	"Webhooks": func(ctx context.Context, o outsider) (bool, error) { return some(o.door.Webhooks(ctx, store.Page{})) },
	"CountWebhooks": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.CountWebhooks(ctx)
		return n > 0, err
	},
	"Webhook":       func(ctx context.Context, o outsider) (bool, error) { return one(o.door.Webhook(ctx, o.webhook.ID)) },
	"UpdateWebhook": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.UpdateWebhook(ctx, o.webhook)) },
	"DisableWebhook": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.DisableWebhook(ctx, o.webhook.ID, connectors.WebhookGone)
	},
	"DeleteWebhook": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.DeleteWebhook(ctx, o.webhook.ID)
	},
	"SetWebhookSecrets": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.SetWebhookSecrets(ctx, o.webhook.ID, store.WebhookSecrets{Now: "mine"}))
	},
	"Deliveries": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Deliveries(ctx, o.webhook.ID, store.Page{}))
	},
	"Delivery": func(ctx context.Context, o outsider) (bool, error) { return one(o.door.Delivery(ctx, o.delivery.ID)) },
	"AddTestDelivery": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.AddTestDelivery(ctx, o.webhook.ID, connectors.DeliveryBody{Title: "Mine"}))
	},
	"ClaimDelivery": func(ctx context.Context, o outsider) (bool, error) {
		_, claimed, err := o.door.ClaimDelivery(ctx, o.delivery.ID, time.Minute)
		return claimed, err
	},
	"EndDelivery": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.EndDelivery(ctx, o.delivery, store.DeliveryAttempt{State: connectors.DeliveryDelivered})
	},
	"NoteDelivered": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.NoteDelivered(ctx, o.webhook.ID); err != nil {
			return false, err
		}
		theirs, err := o.Door().Webhook(ctx, o.webhook.ID)
		return theirs.DeliveredAt != nil, err
	},
	"NoteUndelivered": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.NoteUndelivered(ctx, o.webhook.ID))
	},
	"Redeliver": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Redeliver(ctx, o.webhook.ID, o.delivery.ID))
	},
}

var webhookVaultAttempts = map[string]attempt{
	"WebhookSecrets": func(ctx context.Context, o outsider) (bool, error) {
		_, s, err := o.vault.WebhookSecrets(ctx, o.webhook.ID)
		return !s.Now.Empty(), err
	},
}

// ownNotices are the methods that make or show the outsider's own.
var ownNotices = map[string]bool{
	"AddNotice": true, "Notices": true, "News": true, "ReadNotices": true, "CreateWebhook": true, "Webhooks": true, "CountWebhooks": true,
	"DisableWebhook": true, "Deliveries": true, "EndDelivery": true, "NoteDelivered": true,
}

func newNotice(key string) store.NewNotice {
	return store.NewNotice{Kind: connectors.NoticeDown, Title: "Linear is down", Body: "It does not answer.", Link: "/connectors/linear", Key: key}
}
