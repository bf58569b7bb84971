package store

import (
	"context"
	"encoding/json"
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// NamesKind reports whether an enabled webhook names the kind. Webhooks of all kinds do not count.
func (t Webhooks) NamesKind(ctx context.Context, kind connectors.NoticeKind) (bool, error) {
	ids, err := t.q.WebhooksNamingKind(ctx, t.id, string(kind))
	return len(ids) > 0, err
}

// AddEvent stores a delivery with its job for every webhook that names the event's kind. The event is no notice.
func (t Webhooks) AddEvent(ctx context.Context, n NewNotice) error {
	return t.ensureTx(ctx, func(tx *Tenant) error { return tx.noticeWriter().addEvent(ctx, n) })
}

func (t noticeWriter) addEvent(ctx context.Context, n NewNotice) error {
	p, err := t.noticeColumns(n)
	if err != nil {
		return err
	}
	naming, err := t.q.WebhooksNamingKind(ctx, t.id, string(n.Kind))
	if err != nil || len(naming) == 0 {
		return err
	}
	body, err := newDeliveryBody(p, "")
	if err != nil {
		return err
	}
	return t.queueBodies(ctx, naming, dbgen.InsertDeliveryParams{TenantID: t.id, Kind: n.Kind, Body: body})
}

// newDeliveryBody returns the content of a delivery. An empty notice is that of an event.
func newDeliveryBody(p dbgen.InsertNoticeParams, notice string) ([]byte, error) {
	body, err := json.Marshal(connectors.DeliveryBody{NoticeID: notice, Title: p.Title, Text: p.Body, Link: p.Link, Details: p.Data})
	if err != nil {
		return nil, fmt.Errorf("tell %s: %w", p.Kind, err)
	}
	return body, nil
}
