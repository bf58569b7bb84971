package jws_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/jws/jwstest"
)

const (
	resource = "https://patchbay.example.com/mcp/github"
	token    = "pb_agent_a_b_c"
)

func verifyHeader(proofs ...string) (jws.Proof, error) {
	h := http.Header{}
	for _, p := range proofs {
		h.Add("DPoP", p)
	}
	return jws.VerifyProof(h, jws.Request{Method: "POST", URL: resource, Token: token, Now: time.Now()})
}

func newClaims(jti string) map[string]any {
	return map[string]any{"jti": jti, "htm": "POST", "htu": resource, "iat": time.Now().Unix(), "ath": jwstest.Hash(token)}
}

func mustKey[K any](key K, err error) K {
	if err != nil {
		panic(err)
	}
	return key
}

func TestVerifyProof_AcceptsWhatClientsSign(t *testing.T) {
	t.Parallel()
	p := jwstest.NewProver(t)
	_, edKey, _ := ed25519.GenerateKey(rand.Reader)
	embed := &jose.SignerOptions{EmbedJWK: true}
	for name, text := range map[string]string{
		"plain":            p.Proof(t, "POST", resource, token, nil),
		"host in capitals": p.Proof(t, "POST", "HTTPS://Patchbay.Example.com/mcp/github", token, nil),
		"default port":     p.Proof(t, "POST", "https://patchbay.example.com:443/mcp/github", token, nil),
		"query, fragment":  p.Proof(t, "POST", resource+"?a=1#b", token, nil),
		"late clock":       p.Proof(t, "POST", resource, token, map[string]any{"iat": time.Now().Add(-4 * time.Minute).Unix()}),
		"fast clock":       p.Proof(t, "POST", resource, token, map[string]any{"iat": time.Now().Add(50 * time.Second).Unix()}),
		"ES384": jwstest.Sign(t, jose.SigningKey{Algorithm: jose.ES384, Key: mustKey(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))},
			embed, "dpop+jwt", newClaims("1")),
		"EdDSA": jwstest.Sign(t, jose.SigningKey{Algorithm: jose.EdDSA, Key: edKey}, embed, "dpop+jwt", newClaims("2")),
		"PS256": jwstest.Sign(t, jose.SigningKey{Algorithm: jose.PS256, Key: mustKey(rsa.GenerateKey(rand.Reader, 2048))}, embed, "dpop+jwt", newClaims("3")),
	} {
		if _, err := verifyHeader(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerifyProof_NamesKeyAndProof(t *testing.T) {
	t.Parallel()
	p, other := jwstest.NewProver(t), jwstest.NewProver(t)
	same := map[string]any{"jti": "one"}
	first, err := verifyHeader(p.Proof(t, "POST", resource, token, same))
	if err != nil || first.Key != p.Thumbprint(t) {
		t.Fatalf("%+v %v", first, err)
	}
	again, err := verifyHeader(p.Proof(t, "POST", resource, token, map[string]any{"jti": "one", "extra": true}))
	if err != nil || again.ID != first.ID {
		t.Errorf("another text of the same jti has another ID, so it would count twice: %v", err)
	}
	for name, text := range map[string]string{
		"another jti": p.Proof(t, "POST", resource, token, nil), "another key": other.Proof(t, "POST", resource, token, same),
	} {
		if got, err := verifyHeader(text); err != nil || got.ID == first.ID {
			t.Errorf("%s has the same ID: %v", name, err)
		}
	}
}

func TestVerifyProof_RefusesWhatIsNoProof(t *testing.T) {
	t.Parallel()
	p := jwstest.NewProver(t)
	proof := func(changes map[string]any) string { return p.Proof(t, "POST", resource, token, changes) }
	good := proof(nil)
	head, rest, _ := strings.Cut(good, ".")
	body, _, _ := strings.Cut(rest, ".")
	_, _, signature := cutThree(t, proof(nil))
	_, otherBody, _ := cutThree(t, proof(nil))
	secret := []byte("a shared secret of more than thirty-two bytes")
	embed := func() *jose.SignerOptions { return &jose.SignerOptions{EmbedJWK: true} }
	es256 := jose.SigningKey{Algorithm: jose.ES256, Key: p.Key}
	private := jwstest.Sign(t, es256, (&jose.SignerOptions{}).WithHeader("jwk", jose.JSONWebKey{Key: p.Key}), "dpop+jwt", newClaims("6"))
	for name, proofs := range map[string][]string{
		"none":                 {},
		"two":                  {good, good},
		"two in one":           {good + ", " + good},
		"empty":                {""},
		"no JWT":               {"abc"},
		"too long":             {proof(map[string]any{"pad": strings.Repeat("a", 7000)})},
		"no type":              {jwstest.Sign(t, es256, embed(), "", newClaims("1"))},
		"another type":         {jwstest.Sign(t, es256, embed(), "JWT", newClaims("2"))},
		"no key":               {jwstest.Sign(t, es256, &jose.SignerOptions{}, "dpop+jwt", newClaims("3"))},
		"private key":          {private},
		"symmetric":            {jwstest.Sign(t, jose.SigningKey{Algorithm: jose.HS256, Key: secret}, embed(), "dpop+jwt", newClaims("4"))},
		"symmetric key in jwk": {withHeader(t, good, func(h map[string]any) { h["jwk"] = map[string]any{"kty": "oct", "k": "AAAA"} })},
		"unsigned":             {withHeader(t, head+"."+body+".", func(h map[string]any) { h["alg"] = "none" })},
		"another algorithm":    {withHeader(t, good, func(h map[string]any) { h["alg"] = "ES384" })},
		"critical header":      {withHeader(t, good, func(h map[string]any) { h["crit"] = []string{"exp"} })},
		"another signature":    {head + "." + body + "." + signature},
		"another body":         {head + "." + otherBody + "." + good[strings.LastIndex(good, ".")+1:]},
		"small RSA key":        {jwstest.Sign(t, jose.SigningKey{Algorithm: jose.RS256, Key: mustKey(rsa.GenerateKey(rand.Reader, 1024))}, embed(), "dpop+jwt", newClaims("5"))},
		"no jti":               {proof(map[string]any{"jti": nil})},
		"no method":            {proof(map[string]any{"htm": nil})},
		"another method":       {proof(map[string]any{"htm": "GET"})},
		"lower-case method":    {proof(map[string]any{"htm": "post"})},
		"no URL":               {proof(map[string]any{"htu": nil})},
		"relative URL":         {proof(map[string]any{"htu": "/mcp/github"})},
		"another host":         {proof(map[string]any{"htu": "https://10.0.0.7:8080/mcp/github"})},
		"another port":         {proof(map[string]any{"htu": "https://patchbay.example.com:8443/mcp/github"})},
		"another scheme":       {proof(map[string]any{"htu": "http://patchbay.example.com/mcp/github"})},
		"another path":         {proof(map[string]any{"htu": "https://patchbay.example.com/mcp"})},
		"user in URL":          {proof(map[string]any{"htu": "https://a@patchbay.example.com/mcp/github"})},
		"no time":              {proof(map[string]any{"iat": nil})},
		"old":                  {proof(map[string]any{"iat": time.Now().Add(-6 * time.Minute).Unix()})},
		"of the future":        {proof(map[string]any{"iat": time.Now().Add(2 * time.Minute).Unix()})},
		"expired":              {proof(map[string]any{"exp": time.Now().Add(-time.Second).Unix()})},
		"no token":             {proof(map[string]any{"ath": nil})},
		"another token":        {proof(map[string]any{"ath": jwstest.Hash("pb_agent_x")})},
		"token itself":         {proof(map[string]any{"ath": token})},
	} {
		_, err := verifyHeader(proofs...)
		if f := fault.As(err); err == nil || f.Code != jws.CodeInvalidProof || f.Kind != fault.Unauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := verifyHeader(good); err != nil {
		t.Errorf("the good one is refused, so the others prove nothing: %v", err)
	}
}

func cutThree(t *testing.T, text string) (head, body, signature string) {
	t.Helper()
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no compact JWS", text)
	}
	return parts[0], parts[1], parts[2]
}

// withHeader changes the header of a JWT. Its signature then does not fit.
func withHeader(t *testing.T, text string, change func(map[string]any)) string {
	t.Helper()
	head, body, signature := cutThree(t, text)
	raw, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		t.Fatal(err)
	}
	h := map[string]any{}
	if err := json.Unmarshal(raw, &h); err != nil {
		t.Fatal(err)
	}
	change(h)
	if raw, err = json.Marshal(h); err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(raw) + "." + body + "." + signature
}

func TestIsThumbprint(t *testing.T) {
	t.Parallel()
	good := jwstest.NewProver(t).Thumbprint(t)
	for text, want := range map[string]bool{good: true, "": false, good + "A": false, good[:42]: false, good + "=": false, strings.Repeat("!", 43): false} {
		if jws.IsThumbprint(text) != want {
			t.Errorf("IsThumbprint(%q) = %t", text, !want)
		}
	}
}

// FuzzVerifyProof: an accepted proof names a key and has not expired.
func FuzzVerifyProof(f *testing.F) {
	p := jwstest.NewProver(f)
	f.Add(p.Proof(f, "POST", resource, token, nil))
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, text string) {
		proof, err := verifyHeader(text)
		if err == nil && (proof.Key == "" || proof.ExpiresAt.Before(time.Now())) {
			t.Errorf("accepted without key or time: %+v", proof)
		}
	})
}

func BenchmarkVerifyProof(b *testing.B) {
	text := jwstest.NewProver(b).Proof(b, "POST", resource, token, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := verifyHeader(text); err != nil {
			b.Fatal(err)
		}
	}
}
