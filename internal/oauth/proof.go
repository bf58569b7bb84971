package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	proofAlgorithm = "ES256"
	proofHeader    = "DPoP"
	nonceHeader    = "DPoP-Nonce"
	maxNonceLength = 1 << 10
	maxNonces      = 16 // origins of which a key remembers the nonce
)

// ProofKey binds tokens to their holder (DPoP, RFC 9449): a token of it is of no use without a proof that the key signs for
// each request. It remembers the last nonce of each server. It is safe for concurrent use.
type ProofKey struct {
	key *ecdsa.PrivateKey
	jwk map[string]string // the public key (RFC 7517)

	mu     sync.Mutex
	nonces map[string]string // by origin; guarded by mu
}

// NewProofKey makes a key.
func NewProofKey() (*ProofKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for proofs: %w", err)
	}
	return fromPrivateKey(key)
}

// ParseProofKey reads what [ProofKey.Encode] wrote.
func ParseProofKey(text Secret) (*ProofKey, error) {
	der, err := base64.StdEncoding.DecodeString(text.Reveal())
	if err != nil {
		return nil, newRefusal(StepRefresh, "the stored key for proofs is no base64")
	}
	key, _ := parseDER(der)
	elliptical, ok := key.(*ecdsa.PrivateKey)
	if !ok || elliptical.Curve != elliptic.P256() {
		return nil, newRefusal(StepRefresh, "the stored key for proofs is no P-256 key")
	}
	return fromPrivateKey(elliptical)
}

func fromPrivateKey(key *ecdsa.PrivateKey) (*ProofKey, error) {
	point, err := key.PublicKey.Bytes() // 4, x and y (SEC 1 section 2.3.3)
	if err != nil {
		return nil, fmt.Errorf("write the key for proofs: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString
	return &ProofKey{key: key, jwk: map[string]string{"kty": "EC", "crv": "P-256", "x": text(point[1:33]), "y": text(point[33:])}}, nil
}

// Encode returns the private key as base64 of PKCS #8; empty for nil.
func (k *ProofKey) Encode() Secret {
	if k == nil {
		return ""
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.key)
	if err != nil {
		return "" // not for a P-256 key
	}
	return Secret(base64.StdEncoding.EncodeToString(der))
}

// Format hides the key from fmt.
func (k *ProofKey) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redactedText)) }

// MarshalText hides the key from encoders.
func (k *ProofKey) MarshalText() ([]byte, error) { return []byte(redactedText), nil }

// Client returns a client that adds a proof to each request with a token of the DPoP scheme. A request that the server wants
// with its nonce (RFC 9449 section 9) is sent once more. It shares the transport of c, which must have one.
func (k *ProofKey) Client(c *http.Client, now func() time.Time) *http.Client {
	own := *c
	own.Transport = &proofTransport{key: k, next: c.Transport, now: now}
	return &own
}

// addProof adds the proof for a request, with the access token that it carries; empty: none. It returns the nonce in the proof.
func (k *ProofKey) addProof(r *http.Request, token string, now time.Time) (nonce string, err error) {
	address := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.URL.Path, RawPath: r.URL.RawPath}
	claims := jwt.MapClaims{"jti": rand.Text(), "htm": r.Method, "htu": address.String(), "iat": now.Unix()}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	if nonce = k.nonceFor(r.URL); nonce != "" {
		claims["nonce"] = nonce
	}
	proof := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	proof.Header["typ"], proof.Header["jwk"] = "dpop+jwt", k.jwk
	text, err := proof.SignedString(k.key)
	if err != nil {
		return "", fmt.Errorf("sign a proof: %w", err)
	}
	r.Header.Set(proofHeader, text)
	return nonce, nil
}

func (k *ProofKey) nonceFor(u *url.URL) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.nonces[originURL(u)]
}

// keepNonce keeps the nonce of a response, and reports whether it is another one than sent.
func (k *ProofKey) keepNonce(u *url.URL, h http.Header, sent string) bool {
	nonce := h.Get(nonceHeader)
	if nonce == "" || len(nonce) > maxNonceLength || !isPrintable(nonce) {
		return false
	}
	origin := originURL(u)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.nonces == nil || len(k.nonces) == maxNonces && k.nonces[origin] == "" {
		k.nonces = map[string]string{}
	}
	k.nonces[origin] = nonce
	return nonce != sent
}

// offersProofs reports whether the server binds tokens to keys of our algorithm.
func (m Metadata) offersProofs() bool { return slices.Contains(m.DPoPSigningAlgs, proofAlgorithm) }
