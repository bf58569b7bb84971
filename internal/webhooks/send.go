package webhooks

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// sendTimeout is the default timeout of a try.
const sendTimeout = 10 * time.Second

// attemptResult is the result of a try.
type attemptResult struct {
	status     int // 0: no response
	retryAfter time.Duration
	took       time.Duration
	sentence   string // failure; empty: delivered
}

func (r attemptResult) hasArrived() bool { return r.sentence == "" }

// sendOnce sends one request. An error is our own; a receiver's failure is in the result.
func (p *Post) sendOnce(ctx context.Context, w connectors.Webhook, s store.WebhookSecrets, d connectors.Delivery) (attemptResult, error) {
	body, err := p.marshalBody(w.Format, d)
	if err != nil {
		return attemptResult{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	r, err := p.newRequest(ctx, w, s, signedMessage{id: MessageID(d.ID), sentAt: p.now(), body: body})
	if fault.Is(err, fault.Invalid) {
		return attemptResult{sentence: fault.As(err).Message}, nil
	}
	if err != nil {
		return attemptResult{}, err
	}
	began := time.Now()
	response, err := p.http.Do(r)
	if err != nil {
		return attemptResult{sentence: safehttp.Explain(ctx, err, p.timeout), took: time.Since(began)}, nil
	}
	_ = response.Body.Close() // not read
	result := attemptResult{status: response.StatusCode, took: time.Since(began), retryAfter: parseRetryAfter(response.Header.Get("Retry-After"), p.now())}
	if result.status < 200 || result.status > 299 {
		result.sentence = explainStatus(result.status)
	}
	return result, nil
}

func (p *Post) newRequest(ctx context.Context, w connectors.Webhook, s store.WebhookSecrets, m signedMessage) (*http.Request, error) {
	if _, err := p.checkURL(w.URL); err != nil {
		return nil, fault.Errorf(fault.Invalid, "%s", egressSentence(err))
	}
	signatures, err := m.signatureHeader(s)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(m.body))
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "Patchbay can't send to this address.")
	}
	r.Close = true // notices are rare: no connection is reused
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("webhook-id", m.id)
	r.Header.Set("webhook-timestamp", m.unixTime())
	r.Header.Set("webhook-signature", signatures)
	return r, nil
}
