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

// Deliveries lists a webhook's deliveries, newest first.
func (t Webhooks) Deliveries(ctx context.Context, id connectors.WebhookID, p Page) (List[connectors.Delivery], error) {
	before, err := p.afterID("deliveries")
	if err != nil {
		return List[connectors.Delivery]{}, err
	}
	rows, err := t.q.Deliveries(ctx, dbgen.DeliveriesParams{TenantID: t.id, WebhookID: id, BeforeID: before, MaxRows: p.rowLimit()})
	if err != nil {
		return List[connectors.Delivery]{}, err
	}
	return newList(p, rows, toDelivery, "deliveries", func(r dbgen.WebhookDelivery) []string { return []string{r.ID.String()} }), nil
}

// Delivery reads one delivery.
func (t Webhooks) Delivery(ctx context.Context, id connectors.DeliveryID) (connectors.Delivery, error) {
	row, err := t.q.Delivery(ctx, t.id, id)
	return toDelivery(row), rowError(err, "delivery")
}

// AddTestDelivery stores a test delivery without a job: the caller sends it.
func (t Webhooks) AddTestDelivery(ctx context.Context, id connectors.WebhookID, body connectors.DeliveryBody) (connectors.DeliveryID, error) {
	made := connectors.DeliveryID{UUID: newID()}
	b, err := json.Marshal(body)
	if err != nil {
		return made, fmt.Errorf("test a webhook: %w", err)
	}
	return made, t.ensureTx(ctx, func(tx *Tenant) error {
		if _, err := tx.Webhooks().Get(ctx, id); err != nil {
			return err
		}
		return tx.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
			err := q.InsertDelivery(ctx, dbgen.InsertDeliveryParams{
				TenantID: tx.id, ID: made, WebhookID: id, Kind: connectors.NoticeWebhookTest, Body: b,
			})
			if err != nil {
				return err
			}
			return q.DeleteOldestDeliveries(ctx, tx.id, id, maxDeliveries)
		})
	})
}

// ClaimDelivery claims a due delivery for the duration hold. If claimed is false, none is due, and d is its
// current state.
func (t Webhooks) ClaimDelivery(ctx context.Context, id connectors.DeliveryID, hold time.Duration) (d connectors.Delivery, claimed bool, err error) {
	row, err := t.q.ClaimDelivery(ctx, hold.Seconds(), t.id, id)
	if errors.Is(err, pgx.ErrNoRows) {
		d, err = t.Delivery(ctx, id)
		return d, false, err
	}
	return toDelivery(row), err == nil, err
}

// DeliveryAttempt is the result of one attempt.
type DeliveryAttempt struct {
	State    connectors.DeliveryState
	Wait     time.Duration // until the next attempt, if it waits
	Status   int           // HTTP status; 0: no response
	Error    string        // a sentence
	Duration time.Duration
}

// EndDelivery stores the result of a claimed attempt. It is false if another attempt began since, or the
// delivery was closed.
func (t Webhooks) EndDelivery(ctx context.Context, d connectors.Delivery, try DeliveryAttempt) (bool, error) {
	p := dbgen.EndDeliveryParams{
		TenantID: t.id, ID: d.ID, Tries: int32(d.Tries), State: try.State, Error: cleanText(try.Error), DurationMs: new(toMilliseconds(try.Duration)),
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

// NoteDelivered resets the webhook's failures.
func (t Webhooks) NoteDelivered(ctx context.Context, id connectors.WebhookID) error {
	return t.q.RecordDelivered(ctx, t.id, id)
}

// NoteUndelivered counts a failure and returns the webhook.
func (t Webhooks) NoteUndelivered(ctx context.Context, id connectors.WebhookID) (connectors.Webhook, error) {
	row, err := t.q.RecordUndelivered(ctx, t.id, id)
	return toWebhook(row), rowError(err, "webhook")
}

// Redeliver makes a delivery due again, with its id and earlier attempts.
func (t Webhooks) Redeliver(ctx context.Context, webhook connectors.WebhookID, id connectors.DeliveryID) (d connectors.Delivery, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		row, err := tx.q.RequeueDelivery(ctx, tx.id, webhook, id)
		if err != nil {
			return rowError(err, "delivery")
		}
		d = toDelivery(row)
		job := queue.DeliverWebhook{TenantID: tx.id.UUID, DeliveryID: id.UUID, Round: d.Tries}
		return classifyError(tx.store.jobs.InsertDeliveriesTx(ctx, tx.scope.tx, job))
	})
	return d, err
}

func toDelivery(r dbgen.WebhookDelivery) connectors.Delivery {
	d := connectors.Delivery{
		ID: r.ID, WebhookID: r.WebhookID, NoticeID: r.NoticeID, Kind: r.Kind, State: r.State, Attempts: int(r.Attempts), Tries: int(r.Tries),
		CreatedAt: r.CreatedAt.UTC(), NextAt: toUTC(r.NextAt), TriedAt: toUTC(r.TriedAt), Error: r.Error, Body: r.Body,
	}
	if r.Status != nil {
		d.Status = int(*r.Status)
	}
	if r.DurationMs != nil {
		d.Duration = time.Duration(*r.DurationMs) * time.Millisecond
	}
	return d
}
