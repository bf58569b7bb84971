package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store/dbgen"
)

// Bounds of stored notices. A new one deletes the oldest above the bound.
const (
	maxNotices    = 1000 // per tenant
	maxDeliveries = 1000 // per webhook, pending ones included
)

// NewNotice is a notice to store.
type NewNotice = connectors.NewNotice

// AddNotice stores a notice, and a delivery with its job for every webhook that subscribes to the kind, in one
// transaction. An unread notice of the same key within the hour is replaced, without new deliveries.
func (t People) AddNotice(ctx context.Context, n NewNotice) error {
	return t.ensureTx(ctx, func(tx *Tenant) error { return tx.noticeWriter().add(ctx, n) })
}

func (t *tenant) noticeWriter() noticeWriter {
	return noticeWriter{id: t.id, scope: t.scope, q: t.q, jobs: t.store.jobs}
}

// noticeWriter adds notices in a transaction of one tenant.
type noticeWriter struct {
	id    connectors.TenantID
	scope scope
	q     *dbgen.Queries
	jobs  *queue.Inserter
}

// add stores a notice, or replaces an unread one of the same key.
func (t noticeWriter) add(ctx context.Context, n NewNotice) error {
	p, err := t.noticeColumns(n)
	if err != nil {
		return err
	}
	if merged, err := t.mergeUnread(ctx, p); err != nil || merged {
		return err
	}
	return t.insertRow(ctx, p)
}

// addUnmerged stores a notice, also where one of the same key is unread.
func (t noticeWriter) addUnmerged(ctx context.Context, n NewNotice) error {
	p, err := t.noticeColumns(n)
	if err != nil {
		return err
	}
	return t.insertRow(ctx, p)
}

func (t noticeWriter) noticeColumns(n NewNotice) (dbgen.InsertNoticeParams, error) {
	n = n.Bounded()
	data := n.Data
	if data == nil {
		data = map[string]any{}
	}
	b, err := json.Marshal(data)
	if err != nil {
		return dbgen.InsertNoticeParams{}, fmt.Errorf("tell %s: %w", n.Kind, err)
	}
	return dbgen.InsertNoticeParams{
		TenantID: t.id, ID: connectors.NoticeID{UUID: newID()}, Kind: n.Kind, Title: cleanText(n.Title), Body: cleanText(n.Body),
		Link: cleanText(n.Link), SubjectKey: cleanText(n.Key), Data: cleanJSON(b), Upstream: encodeUpstream(n.Upstream),
	}, nil
}

// insertRow stores a notice with its deliveries.
func (t noticeWriter) insertRow(ctx context.Context, p dbgen.InsertNoticeParams) error {
	err := t.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
		if err := q.InsertNotice(ctx, p); err != nil {
			return err
		}
		return q.DeleteOldestNotices(ctx, t.id, maxNotices)
	})
	if err != nil {
		return err
	}
	return t.queueDeliveries(ctx, p)
}

// mergeUnread replaces an unread notice of the same key, and reports whether there was one.
func (t noticeWriter) mergeUnread(ctx context.Context, p dbgen.InsertNoticeParams) (bool, error) {
	if p.SubjectKey == "" {
		return false, nil
	}
	n, err := t.q.MergeNotice(ctx, dbgen.MergeNoticeParams{
		TenantID: t.id, Kind: p.Kind, SubjectKey: p.SubjectKey, Title: p.Title, Body: p.Body, Link: p.Link, Data: p.Data, Upstream: p.Upstream,
	})
	return n > 0, err
}

// queueDeliveries queues a delivery for each webhook that subscribes to the kind.
func (t noticeWriter) queueDeliveries(ctx context.Context, p dbgen.InsertNoticeParams) error {
	wanting, err := t.q.WebhooksForKind(ctx, t.id, string(p.Kind))
	if err != nil || len(wanting) == 0 {
		return err
	}
	body, err := newDeliveryBody(p, p.ID.String())
	if err != nil {
		return err
	}
	return t.queueBodies(ctx, wanting, dbgen.InsertDeliveryParams{TenantID: t.id, NoticeID: &p.ID, Kind: p.Kind, Body: body})
}

// queueBodies queues a delivery with its job for each webhook.
func (t noticeWriter) queueBodies(ctx context.Context, receivers []connectors.WebhookID, d dbgen.InsertDeliveryParams) error {
	var jobs []queue.DeliverWebhook
	err := t.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
		for _, id := range receivers {
			d.ID, d.WebhookID = connectors.DeliveryID{UUID: newID()}, id
			jobs = append(jobs, queue.DeliverWebhook{TenantID: t.id.UUID, DeliveryID: d.ID.UUID})
			if err := q.InsertDelivery(ctx, d); err != nil {
				return err
			}
			if err := q.DeleteOldestDeliveries(ctx, t.id, id, maxDeliveries); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return classifyError(t.jobs.InsertDeliveriesTx(ctx, t.scope.tx, jobs...))
}

// Notices lists the tenant's notices, newest first, with the read state of person; nil: a program, for which
// none is unread.
func (t People) Notices(ctx context.Context, person *connectors.UserID, p Page) (List[connectors.Notice], error) {
	before, err := p.afterID("notices")
	if err != nil {
		return List[connectors.Notice]{}, err
	}
	rows, err := t.q.Notices(ctx, dbgen.NoticesParams{TenantID: t.id, UserID: personID(person), BeforeID: before, MaxRows: p.rowLimit()})
	if err != nil {
		return List[connectors.Notice]{}, err
	}
	return newList(p, rows, toNotice, "notices", func(r dbgen.NoticesRow) []string { return []string{r.ID.String()} }), nil
}

// ReadNotices marks notices as read by a person, all without ids. It returns how many were unread; unknown ids
// are ignored.
func (t People) ReadNotices(ctx context.Context, person connectors.UserID, ids ...connectors.NoticeID) (int, error) {
	var only []uuid.UUID
	for _, id := range ids {
		only = append(only, id.UUID)
	}
	n, err := t.q.ReadNotices(ctx, t.id, person, only)
	return int(n), err
}

func personID(person *connectors.UserID) *uuid.UUID {
	if person == nil {
		return nil
	}
	return &person.UUID
}

func toNotice(r dbgen.NoticesRow) connectors.Notice {
	return connectors.Notice{
		ID: r.ID, At: r.At.UTC(), Kind: r.Kind, Title: r.Title, Body: r.Body, Link: r.Link, Data: r.Data, Upstream: decodeUpstream(r.Upstream),
		Times: int(r.Times), Read: r.IsRead,
	}
}
