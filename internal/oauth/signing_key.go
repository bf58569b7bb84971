package oauth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	signingAlgorithm = "RS256" // which every OpenID provider supports
	signingKeyBits   = 2048
)

// SigningAlgorithms are those of [SigningKey].
var SigningAlgorithms = []string{signingAlgorithm}

// SigningKey signs assertions of an issuer. Its public key verifies them.
type SigningKey struct {
	id  string
	key *rsa.PrivateKey
}

// NewSigningKey makes a key with an id.
func NewSigningKey(id string) (*SigningKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, signingKeyBits)
	if err != nil {
		return nil, fmt.Errorf("make a signing key: %w", err)
	}
	return &SigningKey{id: id, key: key}, nil
}

// ParseSigningKey reads what [SigningKey.Encode] wrote.
func ParseSigningKey(id string, text Secret) (*SigningKey, error) {
	block, _ := pem.Decode([]byte(text.Reveal()))
	if block == nil {
		return nil, newRefusal(StepTokenExchange, "the stored signing key is not PEM")
	}
	key, _ := parseDER(block.Bytes)
	own, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, newRefusal(StepTokenExchange, "the stored signing key is no RSA key")
	}
	return &SigningKey{id: id, key: own}, nil
}

// Encode returns the private key as PEM of PKCS #8.
func (k *SigningKey) Encode() (Secret, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.key)
	if err != nil {
		return "", fmt.Errorf("write a signing key: %w", err)
	}
	return Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}

// PublicJWK returns the public key (RFC 7517) as JSON.
func (k *SigningKey) PublicJWK() (json.RawMessage, error) {
	text := base64.RawURLEncoding.EncodeToString
	return json.Marshal(map[string]string{
		"kty": "RSA", "use": "sig", "alg": signingAlgorithm, "kid": k.id,
		"n": text(k.key.N.Bytes()), "e": text(big.NewInt(int64(k.key.E)).Bytes()),
	})
}

// Format hides the key from fmt.
func (k *SigningKey) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redactedText)) }

// MarshalText hides the key from encoders.
func (k *SigningKey) MarshalText() ([]byte, error) { return []byte(redactedText), nil }

// PartyAssertion names a person or an agent to one authorization server.
type PartyAssertion struct {
	Issuer   string
	Subject  string
	Audience string // issuer of the authorization server
	Email    string // verified; empty: none is said
	Actor    string // subject of the agent that acts; empty: none
	// ActorComes: the actor's own assertion is sent, too. So the actor is one that may act (RFC 8693 section 4.4), else the one that
	// acts (section 4.1).
	ActorComes bool
}

// Sign returns a new JWT for one request.
func (k *SigningKey) Sign(a PartyAssertion, now time.Time) (Secret, error) {
	claims := jwt.MapClaims{
		"iss": a.Issuer, "sub": a.Subject, "aud": a.Audience, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(assertionLife).Unix(),
	}
	if a.Email != "" {
		claims["email"], claims["email_verified"] = a.Email, true
	}
	if a.Actor != "" {
		name := "act"
		if a.ActorComes {
			name = "may_act"
		}
		claims[name] = map[string]string{"sub": a.Actor, "iss": a.Issuer}
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = k.id
	text, err := token.SignedString(k.key)
	if err != nil {
		return "", fmt.Errorf("sign an assertion: %w", err)
	}
	return Secret(text), nil
}
