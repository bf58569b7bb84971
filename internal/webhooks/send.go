package webhooks

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// sendTimeout bounds a try, unless Options say otherwise.
const sendTimeout = 10 * time.Second

// answer is what came of a try.
type answer struct {
	status     int // 0: none came
	retryAfter time.Duration
	took       time.Duration
	sentence   string // what went wrong; empty: it has arrived
}

func (a answer) arrived() bool { return a.sentence == "" }

// send tries to tell the webhook once. The error is one of our own; whatever the receiver does is an answer.
func (p *Post) send(ctx context.Context, w connectors.Webhook, s store.WebhookSecrets, d connectors.Delivery) (answer, error) {
	body, err := p.bodyOf(d)
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	r, err := p.request(ctx, w, s, message{id: MessageID(d.ID), at: p.now(), body: body})
	if fault.Is(err, fault.Invalid) {
		return answer{sentence: fault.As(err).Message}, nil
	}
	if err != nil {
		return answer{}, err
	}
	began := time.Now()
	response, err := p.http.Do(r)
	if err != nil {
		return answer{sentence: p.explain(ctx, err), took: time.Since(began)}, nil
	}
	_ = response.Body.Close() // nobody reads it
	a := answer{status: response.StatusCode, took: time.Since(began), retryAfter: retryAfter(response.Header.Get("Retry-After"), p.now())}
	if a.status < 200 || a.status > 299 {
		a.sentence = explainStatus(a.status)
	}
	return a, nil
}

func (p *Post) request(ctx context.Context, w connectors.Webhook, s store.WebhookSecrets, m message) (*http.Request, error) {
	if _, err := p.checkURL(w.URL); err != nil {
		return nil, fault.Errorf(fault.Invalid, "%s", egressSentence(err))
	}
	signatures, err := m.signatures(s)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(m.body))
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "This is no address that Patchbay can send to.")
	}
	r.Close = true // notices are rare: no connection is kept for the next
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("webhook-id", m.id)
	r.Header.Set("webhook-timestamp", m.timestamp())
	r.Header.Set("webhook-signature", signatures)
	return r, nil
}
