package sso

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// Browser is the value of the browser's cookie: 32 random bytes, base64url.
type Browser = secret.Text

// flowSecret is one sign-in of one browser. Its proofs are derived from the browser's secret and never stored.
type flowSecret struct {
	tenant  connectors.TenantID
	id      uuid.UUID
	browser Browser
}

// derive returns the flow's proof for a purpose. It cannot be computed without the browser's secret.
func (f flowSecret) derive(purpose string) []byte {
	mac := hmac.New(sha256.New, []byte(f.browser.Reveal()))
	mac.Write([]byte("patchbay sso " + purpose + "\x00"))
	mac.Write(f.tenant.UUID[:])
	mac.Write(f.id[:])
	return mac.Sum(nil)
}

func (f flowSecret) nonceText() string {
	return base64.RawURLEncoding.EncodeToString(f.derive("nonce"))
}
func (f flowSecret) pkceVerifier() string {
	return base64.RawURLEncoding.EncodeToString(f.derive("verifier"))
}

// browserHash identifies the browser. Only it is stored.
func (f flowSecret) browserHash() []byte { return f.derive("browser") }

// stateText returns the state: the flow's id, and proof of this browser.
func (f flowSecret) stateText() string {
	b := append(append([]byte{}, f.tenant.UUID[:]...), f.id[:]...)
	return base64.RawURLEncoding.EncodeToString(append(b, f.derive("state")...))
}

// readState returns the flow of a state that this browser began.
func readState(state string, browser Browser) (flowSecret, bool) {
	const size = 64
	b, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || len(b) != size || len(state) != base64.RawURLEncoding.EncodedLen(size) || browser.Empty() { // line breaks are passed over there
		return flowSecret{}, false
	}
	f := flowSecret{tenant: connectors.TenantID{UUID: uuid.UUID(b[:16])}, id: uuid.UUID(b[16:32]), browser: browser}
	return f, subtle.ConstantTimeCompare(b[32:], f.derive("state")) == 1
}
