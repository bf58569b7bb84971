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
	o.webhook, err = door.Webhooks().Create(ctx, connectors.Webhook{Name: "Theirs", URL: "https://hooks.example.com/"}, store.WebhookSecrets{Now: "whsec_theirs"})
	if err != nil {
		t.Fatal(err)
	}
	if err := door.People().AddNotice(ctx, newNotice("theirs")); err != nil {
		t.Fatal(err)
	}
	notices, err := door.People().Notices(ctx, nil, store.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	deliveries, err := door.Webhooks().Deliveries(ctx, o.webhook.ID, store.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	o.notice, o.delivery = notices.Items[0], deliveries.Items[0]
}

// noticeAttempts are the outsider's at what others are told.
var noticeAttempts = map[string]attempt{
	"People.AddNotice": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.People().AddNotice(ctx, newNotice("theirs")); err != nil {
			return false, err
		}
		theirs, err := o.Door().People().Notices(ctx, nil, store.Page{Limit: 1})
		told, more := o.Door().Webhooks().Deliveries(ctx, o.webhook.ID, store.Page{Limit: 1})
		return theirs.Items[0].Times != 1 || told.Items[0].ID != o.delivery.ID, errors.Join(err, more)
	},
	"People.Notices": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.People().Notices(ctx, &o.member.UserID, store.Page{})
		for _, n := range mine.Items {
			if n.ID == o.notice.ID {
				return true, err
			}
		}
		return false, err
	},
	"People.ReadNotices": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.People().ReadNotices(ctx, o.member.UserID, o.notice.ID)
		all, more := o.door.People().ReadNotices(ctx, o.member.UserID)
		theirs, most := o.Door().People().Notices(ctx, &o.member.UserID, store.Page{})
		return n+all > 0 || theirs.Items[0].Read, errors.Join(err, more, most)
	},
	"Webhooks.AddEvent": func(ctx context.Context, o outsider) (bool, error) {
		named := o.webhook
		named.Kinds = []connectors.NoticeKind{connectors.EventMessage}
		if _, err := o.Door().Webhooks().Update(ctx, named); err != nil {
			return true, err
		}
		err := o.door.Webhooks().AddEvent(ctx, store.NewNotice{Kind: connectors.EventMessage, Title: "mine"})
		told, more := o.Door().Webhooks().Deliveries(ctx, o.webhook.ID, store.Page{Limit: 1})
		_, most := o.Door().Webhooks().Update(ctx, o.webhook)
		return told.Items[0].ID != o.delivery.ID, errors.Join(err, more, most)
	},
	"Webhooks.NamesKind": func(ctx context.Context, o outsider) (bool, error) {
		named := o.webhook
		named.Kinds = []connectors.NoticeKind{connectors.EventListChanged}
		_, err := o.Door().Webhooks().Update(ctx, named)
		isNamed, more := o.door.Webhooks().NamesKind(ctx, connectors.EventListChanged)
		_, most := o.Door().Webhooks().Update(ctx, o.webhook)
		return isNamed, errors.Join(err, more, most)
	},
	"Webhooks.Create": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.Webhooks().Create(ctx, o.webhook, store.WebhookSecrets{Now: "mine"})
		if err != nil {
			return true, err
		}
		return mine.ID == o.webhook.ID, o.door.Webhooks().Delete(ctx, mine.ID)
	},
	"Webhooks.List": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Webhooks().List(ctx, store.Page{}))
	},
	"Webhooks.Count": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Webhooks().Count(ctx)
		return n > 0, err
	},
	"Webhooks.Get": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Webhooks().Get(ctx, o.webhook.ID))
	},
	"Webhooks.Update": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Webhooks().Update(ctx, o.webhook))
	},
	"Webhooks.Disable": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Webhooks().Disable(ctx, o.webhook.ID, connectors.WebhookGone)
	},
	"Webhooks.Delete": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.Webhooks().Delete(ctx, o.webhook.ID)
	},
	"Webhooks.SetSecrets": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Webhooks().SetSecrets(ctx, o.webhook.ID, store.WebhookSecrets{Now: "mine"}))
	},
	"Webhooks.Deliveries": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Webhooks().Deliveries(ctx, o.webhook.ID, store.Page{}))
	},
	"Webhooks.Delivery": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Webhooks().Delivery(ctx, o.delivery.ID))
	},
	"Webhooks.AddTestDelivery": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Webhooks().AddTestDelivery(ctx, o.webhook.ID, connectors.DeliveryBody{Title: "Mine"}))
	},
	"Webhooks.ClaimDelivery": func(ctx context.Context, o outsider) (bool, error) {
		_, claimed, err := o.door.Webhooks().ClaimDelivery(ctx, o.delivery.ID, time.Minute)
		return claimed, err
	},
	"Webhooks.EndDelivery": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Webhooks().EndDelivery(ctx, o.delivery, store.DeliveryAttempt{State: connectors.DeliveryDelivered})
	},
	"Webhooks.NoteDelivered": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Webhooks().NoteDelivered(ctx, o.webhook.ID); err != nil {
			return false, err
		}
		theirs, err := o.Door().Webhooks().Get(ctx, o.webhook.ID)
		return theirs.DeliveredAt != nil, err
	},
	"Webhooks.NoteUndelivered": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Webhooks().NoteUndelivered(ctx, o.webhook.ID))
	},
	"Webhooks.Redeliver": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Webhooks().Redeliver(ctx, o.webhook.ID, o.delivery.ID))
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
	"People.AddNotice": true, "Webhooks.AddEvent": true, "Webhooks.NamesKind": true, "People.Notices": true, "People.ReadNotices": true, "Webhooks.Create": true, "Webhooks.List": true, "Webhooks.Count": true,
	"Webhooks.Disable": true, "Webhooks.Deliveries": true, "Webhooks.EndDelivery": true, "Webhooks.NoteDelivered": true,
}

func newNotice(key string) store.NewNotice {
	return store.NewNotice{Kind: connectors.NoticeDown, Title: "Linear is down", Body: "It does not answer.", Link: "/connectors/linear", Key: key}
}
