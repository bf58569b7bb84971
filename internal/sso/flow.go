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

// Browser is what the cookie of the browser holds that signs in: 32 random bytes, as base64url.
type Browser = secret.Text

// flow is one sign-in of one browser. What proves it is made from the browser's secret and never stored.
type flow struct {
	tenant  connectors.TenantID
	id      uuid.UUID
	browser Browser
}

// made is a proof of the flow for one purpose; nobody tells it, or another purpose's, without the browser's secret.
func (f flow) made(purpose string) []byte {
	mac := hmac.New(sha256.New, []byte(f.browser.Reveal()))
	mac.Write([]byte("patchbay sso " + purpose + "\x00"))
	mac.Write(f.tenant.UUID[:])
	mac.Write(f.id[:])
	return mac.Sum(nil)
}

func (f flow) nonce() string    { return base64.RawURLEncoding.EncodeToString(f.made("nonce")) }
func (f flow) verifier() string { return base64.RawURLEncoding.EncodeToString(f.made("verifier")) }

// hash recognises the browser. It is all that is stored.
func (f flow) hash() []byte { return f.made("browser") }

// state says which flow it is, and that this browser began it.
func (f flow) state() string {
	b := append(append([]byte{}, f.tenant.UUID[:]...), f.id[:]...)
	return base64.RawURLEncoding.EncodeToString(append(b, f.made("state")...))
}

// readState is the flow that a state names, where this browser began it.
func readState(state string, browser Browser) (flow, bool) {
	const size = 64
	b, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || len(b) != size || len(state) != base64.RawURLEncoding.EncodedLen(size) || browser.Empty() { // line breaks are passed over there
		return flow{}, false
	}
	f := flow{tenant: connectors.TenantID{UUID: uuid.UUID(b[:16])}, id: uuid.UUID(b[16:32]), browser: browser}
	return f, subtle.ConstantTimeCompare(b[32:], f.made("state")) == 1
}
