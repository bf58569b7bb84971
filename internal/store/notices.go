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

// What is kept. The oldest beyond that go when a new one comes.
const (
	keptNotices    = 1000 // of a tenant
	keptDeliveries = 1000 // of a webhook, those that wait among them
)

// MaxUnread is how many notices, the newest, are looked at for the count of what a person has not read.
const MaxUnread = 100

// NewNotice is a notice to be stored.
type NewNotice = connectors.NewNotice

// AddNotice tells the tenant's people something: it stores the notice, and a delivery with its job for every webhook that wants the kind,
// all or nothing. What was told under the same key within the hour, and nobody has read, is told anew in its place, and no webhook hears
// of it again.
func (t *Tenant) AddNotice(ctx context.Context, n NewNotice) error {
	return t.within(ctx, func(tx *Tenant) error { return tx.teller().add(ctx, n) })
}

func (t *Tenant) teller() teller { return teller{id: t.id, scope: t.scope, q: t.q, jobs: t.store.jobs} }

// teller adds notices to a transaction of one tenant.
type teller struct {
	id    connectors.TenantID
	scope scope
	q     *dbgen.Queries
	jobs  *queue.Inserter
}

func (t teller) add(ctx context.Context, n NewNotice) error {
	n = n.Bounded()
	data := n.Data
	if data == nil {
		data = map[string]any{}
	}
	b, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("tell %s: %w", n.Kind, err)
	}
	p := dbgen.InsertNoticeParams{
		TenantID: t.id, ID: connectors.NoticeID{UUID: newID()}, Kind: n.Kind, Title: clean(n.Title), Body: clean(n.Body),
		Link: clean(n.Link), SubjectKey: clean(n.Key), Data: cleanJSON(b),
	}
	if merged, err := t.merge(ctx, p); err != nil || merged {
		return err
	}
	err = t.scope.pipelined(ctx, func(q *dbgen.Queries) error {
		if err := q.InsertNotice(ctx, p); err != nil {
			return err
		}
		return q.DropOldestNotices(ctx, t.id, keptNotices)
	})
	if err != nil {
		return err
	}
	return t.tellWebhooks(ctx, p)
}

// merge puts a notice in the place of one that nobody has read, and tells whether there was one.
func (t teller) merge(ctx context.Context, p dbgen.InsertNoticeParams) (bool, error) {
	if p.SubjectKey == "" {
		return false, nil
	}
	n, err := t.q.MergeNotice(ctx, dbgen.MergeNoticeParams{
		TenantID: t.id, Kind: p.Kind, SubjectKey: p.SubjectKey, Title: p.Title, Body: p.Body, Link: p.Link, Data: p.Data,
	})
	return n > 0, err
}

// tellWebhooks queues a delivery for each webhook that wants the notice.
func (t teller) tellWebhooks(ctx context.Context, p dbgen.InsertNoticeParams) error {
	wanting, err := t.q.WebhooksWanting(ctx, t.id, string(p.Kind))
	if err != nil || len(wanting) == 0 {
		return err
	}
	body, err := json.Marshal(connectors.DeliveryBody{
		NoticeID: p.ID.String(), Title: p.Title, Text: p.Body, Link: p.Link, Details: p.Data,
	})
	if err != nil {
		return fmt.Errorf("tell %s: %w", p.Kind, err)
	}
	var jobs []queue.DeliverWebhook
	err = t.scope.pipelined(ctx, func(q *dbgen.Queries) error {
		for _, id := range wanting {
			d := dbgen.InsertDeliveryParams{
				TenantID: t.id, ID: connectors.DeliveryID{UUID: newID()}, WebhookID: id, NoticeID: &p.ID, Kind: p.Kind, Body: body,
			}
			jobs = append(jobs, queue.DeliverWebhook{TenantID: t.id.UUID, DeliveryID: d.ID.UUID})
			if err := q.InsertDelivery(ctx, d); err != nil {
				return err
			}
			if err := q.DropOldestDeliveries(ctx, t.id, id, keptDeliveries); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return classify(t.jobs.InsertDeliveriesTx(ctx, t.scope.tx, jobs...))
}

// Notices lists what the tenant's people should know, the newest first, as one of them has read it; nil: a program, for which nothing is
// unread.
func (t *Tenant) Notices(ctx context.Context, person *connectors.UserID, p Page) (List[connectors.Notice], error) {
	before, err := p.afterID("notices")
	if err != nil {
		return List[connectors.Notice]{}, err
	}
	rows, err := t.q.Notices(ctx, dbgen.NoticesParams{TenantID: t.id, UserID: personID(person), BeforeID: before, MaxRows: p.rows()})
	if err != nil {
		return List[connectors.Notice]{}, err
	}
	return listOf(p, rows, noticeRow, "notices", func(r dbgen.NoticesRow) []string { return []string{r.ID.String()} }), nil
}

// News counts what a page's frame shows.
type News struct {
	Approvals int // calls that wait for a person
	Changes   int // changes of tools that do
	Unread    int // of the newest MaxUnread notices
}

// News is what is new for one person.
func (t *Tenant) News(ctx context.Context, person *connectors.UserID) (News, error) {
	row, err := t.q.CountNews(ctx, t.id, MaxUnread, personID(person))
	return News{Approvals: int(row.Approvals), Changes: int(row.Changes), Unread: int(row.Notices)}, err
}

// ReadNotices notes that a person has read the notices, or, without any, all that there are. It says how many were new to them; those
// that are not there count for nothing.
func (t *Tenant) ReadNotices(ctx context.Context, person connectors.UserID, ids ...connectors.NoticeID) (int, error) {
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

func noticeRow(r dbgen.NoticesRow) connectors.Notice {
	return connectors.Notice{
		ID: r.ID, At: r.At.UTC(), Kind: r.Kind, Title: r.Title, Body: r.Body, Link: r.Link, Data: r.Data, Times: int(r.Times), Read: r.IsRead,
	}
}
