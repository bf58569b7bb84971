package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store/dbgen"
)

// Deliveries lists what a webhook was told, the newest first.
func (t *Tenant) Deliveries(ctx context.Context, id connectors.WebhookID, p Page) (List[connectors.Delivery], error) {
	before, err := p.afterID("deliveries")
	if err != nil {
		return List[connectors.Delivery]{}, err
	}
	rows, err := t.q.Deliveries(ctx, dbgen.DeliveriesParams{TenantID: t.id, WebhookID: id, BeforeID: before, MaxRows: p.rows()})
	if err != nil {
		return List[connectors.Delivery]{}, err
	}
	return listOf(p, rows, deliveryOf, "deliveries", func(r dbgen.WebhookDelivery) []string { return []string{r.ID.String()} }), nil
}

// Delivery is one delivery.
func (t *Tenant) Delivery(ctx context.Context, id connectors.DeliveryID) (connectors.Delivery, error) {
	row, err := t.q.Delivery(ctx, t.id, id)
	return deliveryOf(row), found(err, "delivery")
}

// AddTestDelivery makes a delivery that is about nothing. It has no job: whoever makes it tries it.
func (t *Tenant) AddTestDelivery(ctx context.Context, id connectors.WebhookID, body connectors.DeliveryBody) (connectors.DeliveryID, error) {
	made := connectors.DeliveryID{UUID: newID()}
	b, err := json.Marshal(body)
	if err != nil {
		return made, fmt.Errorf("test a webhook: %w", err)
	}
	return made, t.within(ctx, func(tx *Tenant) error {
		if _, err := tx.Webhook(ctx, id); err != nil {
			return err
		}
		return tx.scope.pipelined(ctx, func(q *dbgen.Queries) error {
			err := q.InsertDelivery(ctx, dbgen.InsertDeliveryParams{
				TenantID: tx.id, ID: made, WebhookID: id, Kind: connectors.NoticeWebhookTest, Body: b,
			})
			if err != nil {
				return err
			}
			return q.DropOldestDeliveries(ctx, tx.id, id, keptDeliveries)
		})
	})
}

// ClaimDelivery begins a try of a delivery that is due, for one caller at a time: for so long nobody else tries it. Where none begins,
// claimed is false, and the delivery is as it stands.
func (t *Tenant) ClaimDelivery(ctx context.Context, id connectors.DeliveryID, hold time.Duration) (d connectors.Delivery, claimed bool, err error) {
	row, err := t.q.ClaimDelivery(ctx, hold.Seconds(), t.id, id)
	if errors.Is(err, pgx.ErrNoRows) {
		d, err = t.Delivery(ctx, id)
		return d, false, err
	}
	return deliveryOf(row), err == nil, err
}

// Try is what came of one try of a delivery.
type Try struct {
	State    connectors.DeliveryState
	Wait     time.Duration // until the next one, where it waits
	Status   int           // HTTP's; 0: there was no answer
	Error    string        // a sentence
	Duration time.Duration
}

// EndDelivery notes what came of a claimed try. It is false where another try has begun since, or nobody waits for it any more.
func (t *Tenant) EndDelivery(ctx context.Context, d connectors.Delivery, try Try) (bool, error) {
	p := dbgen.EndDeliveryParams{
		TenantID: t.id, ID: d.ID, Tries: int32(d.Tries), State: try.State, Error: clean(try.Error), DurationMs: new(milliseconds(try.Duration)),
	}
	if try.Status != 0 {
		p.Status = new(int32(try.Status))
	}
	if try.State == connectors.DeliveryWaiting {
		p.Wait = new(try.Wait.Seconds())
	}
	n, err := t.q.EndDelivery(ctx, p)
	return n > 0, err
}

// NoteDelivered notes that something arrived.
func (t *Tenant) NoteDelivered(ctx context.Context, id connectors.WebhookID) error {
	return t.q.NoteDelivered(ctx, t.id, id)
}

// NoteUndelivered notes that something did not arrive, and returns how the webhook stands.
func (t *Tenant) NoteUndelivered(ctx context.Context, id connectors.WebhookID) (connectors.Webhook, error) {
	row, err := t.q.NoteUndelivered(ctx, t.id, id)
	return webhookOf(row), found(err, "webhook")
}

// Redeliver has a delivery tried again at once, under its own id, with all its tries before it.
func (t *Tenant) Redeliver(ctx context.Context, webhook connectors.WebhookID, id connectors.DeliveryID) (d connectors.Delivery, err error) {
	err = t.within(ctx, func(tx *Tenant) error {
		row, err := tx.q.RequeueDelivery(ctx, tx.id, webhook, id)
		if err != nil {
			return found(err, "delivery")
		}
		d = deliveryOf(row)
		job := queue.DeliverWebhook{TenantID: tx.id.UUID, DeliveryID: id.UUID, Round: d.Tries}
		return classify(tx.store.jobs.InsertDeliveriesTx(ctx, tx.scope.tx, job))
	})
	return d, err
}

func deliveryOf(r dbgen.WebhookDelivery) connectors.Delivery {
	d := connectors.Delivery{
		ID: r.ID, WebhookID: r.WebhookID, NoticeID: r.NoticeID, Kind: r.Kind, State: r.State, Attempts: int(r.Attempts), Tries: int(r.Tries),
		CreatedAt: r.CreatedAt.UTC(), NextAt: utc(r.NextAt), TriedAt: utc(r.TriedAt), Error: r.Error, Body: r.Body,
	}
	if r.Status != nil {
		d.Status = int(*r.Status)
	}
	if r.DurationMs != nil {
		d.Duration = time.Duration(*r.DurationMs) * time.Millisecond
	}
	return d
}
