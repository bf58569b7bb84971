package jwstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Prover is a client with a key of its own.
type Prover struct {
	Key *ecdsa.PrivateKey
	Now func() time.Time // nil: time.Now
}

// NewProver makes a client with a new P-256 key.
func NewProver(t testing.TB) *Prover {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &Prover{Key: key}
}

// Thumbprint returns the thumbprint of the key.
func (p *Prover) Thumbprint(t testing.TB) string {
	t.Helper()
	sum, err := (&jose.JSONWebKey{Key: p.Key.Public()}).Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}

// Proof returns a new proof for a request, with a token unless it is empty. changes replace claims; nil removes one.
func (p *Prover) Proof(t testing.TB, method, url, token string, changes map[string]any) string {
	t.Helper()
	now := time.Now
	if p.Now != nil {
		now = p.Now
	}
	claims := map[string]any{"jti": rand.Text(), "htm": method, "htu": url, "iat": now().Unix()}
	if token != "" {
		claims["ath"] = Hash(token)
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return Sign(t, jose.SigningKey{Algorithm: jose.ES256, Key: p.Key}, &jose.SignerOptions{EmbedJWK: true}, "dpop+jwt", claims)
}

// Hash returns the hash of a token, as in ath.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Sign signs claims as a JWT.
func Sign(t testing.TB, key jose.SigningKey, o *jose.SignerOptions, typ jose.ContentType, claims map[string]any) string {
	t.Helper()
	if typ != "" {
		o = o.WithType(typ)
	}
	signer, err := jose.NewSigner(key, o)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
