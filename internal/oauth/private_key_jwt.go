package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// assertionLife is short: an assertion serves one request.
const assertionLife = 2 * time.Minute

// PrivateKey signs client assertions (RFC 7523).
type PrivateKey struct {
	key    crypto.Signer
	method jwt.SigningMethod
}

// Algorithm is the JWS name, as "ES256".
func (k *PrivateKey) Algorithm() string { return k.method.Alg() }

// Format hides the key from fmt.
func (k *PrivateKey) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redactedText)) }

// MarshalText hides the key from encoders.
func (k *PrivateKey) MarshalText() ([]byte, error) { return []byte(redactedText), nil }

// ParsePrivateKey parses a PEM block (PKCS #8, PKCS #1 or SEC 1) for RS256, RS384, RS512, ES256, ES384 or
// ES512; empty: the key's default. The error is an *Error of KindRefused with a Detail to show.
func ParsePrivateKey(text Secret, algorithm string) (*PrivateKey, error) {
	block, _ := pem.Decode([]byte(text.Reveal()))
	if block == nil {
		return nil, newRefusal(StepClientCredentials, "the private key is not PEM")
	}
	key, ok := parseDER(block.Bytes)
	if !ok {
		return nil, newRefusal(StepClientCredentials, "the private key is not an unencrypted RSA or EC key")
	}
	usual := defaultAlgorithm(key)
	switch {
	case usual == "":
		return nil, newRefusal(StepClientCredentials, "the private key is too short, or of a curve that signs no assertions")
	case algorithm == "":
		algorithm = usual
	case algorithm != usual && (usual != "RS256" || algorithm != "RS384" && algorithm != "RS512"):
		return nil, newRefusal(StepClientCredentials, "the algorithm does not match the private key, which is for %s", usual)
	}
	return &PrivateKey{key: key, method: jwt.GetSigningMethod(algorithm)}, nil
}

func parseDER(der []byte) (crypto.Signer, bool) {
	if key, err := x509.ParsePKCS8PrivateKey(der); err == nil {
		signer, ok := key.(crypto.Signer)
		return signer, ok
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, true
	}
	if key, err := x509.ParseECPrivateKey(der); err == nil {
		return key, true
	}
	return nil, false
}

// defaultAlgorithm is empty for an unsupported key. An EC key's curve determines its algorithm (RFC 7518
// section 3.4).
func defaultAlgorithm(key crypto.Signer) string {
	const shortest = 2048 // RFC 7518 §3.3
	switch k := key.(type) {
	case *rsa.PrivateKey:
		if k.N.BitLen() >= shortest {
			return "RS256"
		}
	case *ecdsa.PrivateKey:
		return map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[k.Curve.Params().BitSize]
	}
	return ""
}

// signAssertion returns a new JWT for one client authentication.
func (k *PrivateKey) signAssertion(clientID, audience string, now time.Time) (string, error) {
	return jwt.NewWithClaims(k.method, jwt.MapClaims{
		"iss": clientID,
		"sub": clientID,
		"aud": audience,
		"jti": rand.Text(),
		"iat": now.Unix(),
		"exp": now.Add(assertionLife).Unix(),
	}).SignedString(k.key)
}
