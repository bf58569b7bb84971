package jws

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// slowKey is a private key that takes the library minutes: it computes with p before it checks it.
var slowKey = `{"kty":"RSA","n":"Dw","e":"AQAB","d":"Aw","q":"Aw","p":"` + strings.Repeat("z", 12_000) + `"}`

func withHeader(header string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + ".e30.AA"
}

func TestParse_NoPrivateKeyIsComputedWith(t *testing.T) {
	t.Parallel()
	slow := withHeader(`{"alg":"ES256","typ":"dpop+jwt","jwk":` + slowKey + `}`)
	began := time.Now()
	for name, parse := range map[string]func() error{
		"assertion": func() error { _, err := Parse(slow); return err },
		"header":    func() error { return CheckHeader(slow) },
		"proof":     func() error { _, err := parseProven(slow); return err },
		"key":       func() error { _, err := ParseKey(json.RawMessage(slowKey)); return err },
		"secret":    func() error { _, err := ParseKey(json.RawMessage(`{"kty":"oct","k":"AAAA"}`)); return err },
	} {
		if err := parse(); !errors.Is(err, ErrUnsafeKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, key := range []string{`{"kty":"RSA","e":"AQAB","n":"` + strings.Repeat("z", maxModulus+1) + `"}`, `{"kty":"RSA","e":"AQAB","e":"AQAB"}`, `[]`, ``} {
		if _, err := ParseKey(json.RawMessage(key)); err == nil {
			t.Errorf("%.40s is a key", key)
		}
	}
	small := withHeader(`{"alg":"ES256","typ":"dpop+jwt","jwk":{"kty":"RSA","n":"Dw","e":"AQAB","p":"` + strings.Repeat("z", 3000) + `"}}`)
	if _, err := VerifyProof(http.Header{"Dpop": {small}}, Request{}); err == nil {
		t.Error("a proof with a private key is accepted")
	}
	if spent := time.Since(began); spent > time.Minute {
		t.Errorf("parsed for %v", spent)
	}
}

func TestParse_OtherHeadersPass(t *testing.T) {
	t.Parallel()
	if err := CheckHeader(withHeader(`{"alg":"RS256","kid":"1","x5t":"AA"}`)); err != nil {
		t.Error(err)
	}
	if err := CheckHeader(withHeader(`{"alg":"RS256","jwk":null}`)); err != nil {
		t.Error(err)
	}
	public := `{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","d":null,"k":null,"oth":[]}`
	if key, err := ParseKey(json.RawMessage(public)); err != nil || !key.IsPublic() {
		t.Errorf("a key with empty members: %v", err)
	}
	for _, text := range []string{"", ".", "e30", "\n" + withHeader(`{"alg":"ES256"}`), withHeader(`{"jwk":{},"jwk":{}}`), withHeader(`[]`)} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is a JWS", text)
		}
	}
}
