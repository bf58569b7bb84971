package oauth

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// proofTransport adds proofs to requests for a resource.
type proofTransport struct {
	key  *ProofKey
	next http.RoundTripper
	now  func() time.Time // nil: time.Now
}

// RoundTrip implements [http.RoundTripper].
func (t *proofTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, proofHeader) {
		return t.next.RoundTrip(r)
	}
	resp, err := t.sendProof(r, token)
	if err != nil {
		return nil, err
	}
	fresh := t.key.keepNonce(r.URL, resp.Header)
	if resp.StatusCode != http.StatusUnauthorized || !fresh || r.Body != nil && r.GetBody == nil {
		return resp, nil
	}
	_ = resp.Body.Close()
	again := r.WithContext(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, fmt.Errorf("send a request with the server's nonce: %w", err)
		}
	}
	if resp, err = t.sendProof(again, token); err == nil {
		t.key.keepNonce(r.URL, resp.Header)
	}
	return resp, err
}

// CloseIdleConnections closes those of the transport below.
func (t *proofTransport) CloseIdleConnections() {
	if closer, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// sendProof sends a request with a new proof. The header is a copy: the sender may share it with other requests.
func (t *proofTransport) sendProof(r *http.Request, token string) (*http.Response, error) {
	own := r.WithContext(r.Context())
	own.Header = r.Header.Clone()
	now := time.Now
	if t.now != nil {
		now = t.now
	}
	if err := t.key.addProof(own, token, now()); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return t.next.RoundTrip(own)
}
