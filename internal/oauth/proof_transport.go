package oauth

import (
	"fmt"
	"net/http"
	"slices"
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
	resp, nonce, err := t.sendProof(r, token)
	if err != nil {
		return nil, err
	}
	fresh := t.key.keepNonce(r.URL, resp.Header, nonce)
	if !fresh || !wantsNonce(resp) || r.Body != nil && r.GetBody == nil {
		return resp, nil
	}
	_ = resp.Body.Close()
	again := r.WithContext(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, fmt.Errorf("send a request with the server's nonce: %w", err)
		}
	}
	if resp, nonce, err = t.sendProof(again, token); err == nil {
		t.key.keepNonce(r.URL, resp.Header, nonce)
	}
	return resp, err
}

// wantsNonce reports whether a resource refused a request for its nonce alone. After any other refusal a request is not repeated:
// it may have had its effect.
func wantsNonce(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized && slices.ContainsFunc(resp.Header.Values("WWW-Authenticate"), func(challenge string) bool {
		return strings.Contains(challenge, "use_dpop_nonce")
	})
}

// CloseIdleConnections closes those of the transport below.
func (t *proofTransport) CloseIdleConnections() {
	if closer, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// sendProof sends a request with a new proof, and returns the nonce in it. The header is a copy: the sender may share it with other
// requests.
func (t *proofTransport) sendProof(r *http.Request, token string) (resp *http.Response, nonce string, err error) {
	own := r.WithContext(r.Context())
	own.Header = r.Header.Clone()
	now := time.Now
	if t.now != nil {
		now = t.now
	}
	if nonce, err = t.key.addProof(own, token, now()); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, "", err
	}
	resp, err = t.next.RoundTrip(own)
	return resp, nonce, err
}
