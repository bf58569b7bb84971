package jws

import (
	"crypto"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	josejson "github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"

	"patchbay/internal/fault"
)

// Bounds of proofs.
const (
	maxProof    = 6 << 10         // bytes; a key of 8192 bits fits
	maxProofAge = 5 * time.Minute // since iat: clients' clocks are late
	proofLeeway = time.Minute     // of iat: clients' clocks are ahead
	proofType   = "dpop+jwt"
	proofPrefix = "dpop proof\x00"
)

// Codes of refusals (RFC 9449 section 7.1): of a proof, and of a token in a scheme that is not its own or with another key.
const (
	CodeInvalidProof = "invalid_dpop_proof"
	CodeInvalidToken = "invalid_token"
)

// IsThumbprint reports whether a text is the SHA-256 thumbprint of a key, as in jkt (RFC 9449 section 6).
func IsThumbprint(text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(raw) == sha256.Size
}

// Proof is a verified DPoP proof. The caller must refuse a second one with the same ID until it expires.
type Proof struct {
	Key       string            // its thumbprint (RFC 7638), base64url
	ID        [sha256.Size]byte // of the key and jti
	ExpiresAt time.Time         // it is refused later
}

// Request is what a proof must be for.
type Request struct {
	Method string
	URL    string // as clients send it, without query
	Token  string // the access token; empty: at the token endpoint
	Key    string // thumbprint of the token's key; empty: any
	Now    time.Time
}

// HasProof reports whether a request has a proof or more.
func HasProof(h http.Header) bool { return len(h["Dpop"]) > 0 }

// VerifyProof verifies the proof of a request's header (RFC 9449 section 4.3). The error is Unauthenticated with the code
// CodeInvalidProof, or CodeInvalidToken for another key.
func VerifyProof(h http.Header, r Request) (Proof, error) {
	all := h["Dpop"]
	switch {
	case len(all) == 0:
		return Proof{}, NewProofError("Send a DPoP proof.")
	case len(all) > 1 || strings.Contains(all[0], ","):
		return Proof{}, NewProofError("Send one DPoP proof only.")
	case len(all[0]) > maxProof:
		return Proof{}, NewProofError("The DPoP proof is too long.")
	}
	signed, err := parseProven(all[0])
	if err != nil {
		return Proof{}, NewProofError("The DPoP proof is no JWT with an accepted algorithm and a public key.")
	}
	header := signed.Signatures[0].Protected
	key := header.JSONWebKey
	if typ, _ := header.ExtraHeaders[jose.HeaderType].(string); typ != proofType {
		return Proof{}, NewProofError("The DPoP proof has another type (typ).")
	}
	if key == nil || !key.IsPublic() || !IsKeyFor(*key, jose.SignatureAlgorithm(header.Algorithm)) {
		return Proof{}, NewProofError("The DPoP proof has no public key for its algorithm (jwk).")
	}
	var claims proofClaims
	if josejson.Unmarshal(signed.UnsafePayloadWithoutVerification(), &claims) != nil {
		return Proof{}, NewProofError("The DPoP proof has unreadable claims.")
	}
	if why := claims.findMismatch(r); why != "" {
		return Proof{}, NewProofError(why)
	}
	sum, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return Proof{}, NewProofError("The DPoP proof has no public key for its algorithm (jwk).")
	}
	name := base64.RawURLEncoding.EncodeToString(sum)
	if r.Key != "" && r.Key != name { // before the costly part
		return Proof{}, newTokenError("This token is bound to another key.")
	}
	if _, err := signed.Verify(key); err != nil {
		return Proof{}, NewProofError("The DPoP proof has a wrong signature.")
	}
	p := Proof{Key: name, ExpiresAt: claims.IssuedAt.Time().Add(maxProofAge)}
	p.ID = sha256.Sum256([]byte(proofPrefix + string(sum) + claims.ID))
	return p, nil
}

// PresentedToken is a token of an Authorization header.
type PresentedToken struct {
	Token  string
	Proves bool // by the scheme DPoP
}

// ParseAuthorization parses a header of the schemes Bearer and DPoP (RFC 6750 section 2.1, RFC 9449 section 7.1). Of others the token is
// empty.
func ParseAuthorization(header string) PresentedToken {
	scheme, token, _ := strings.Cut(header, " ")
	proves := strings.EqualFold(scheme, "DPoP")
	if !proves && !strings.EqualFold(scheme, "Bearer") {
		return PresentedToken{}
	}
	return PresentedToken{Token: strings.TrimSpace(token), Proves: proves}
}

// Verify verifies the proof for a token that is bound to key; empty: it is not bound. The proof is nil for a plain token. A token in
// another scheme than its own is refused. The errors are Unauthenticated with a code.
func (p PresentedToken) Verify(key string, r *http.Request, url string, now time.Time) (*Proof, error) {
	switch {
	case key == "" && !p.Proves:
		return nil, nil //nolint:nilnil // a plain token has no proof
	case key == "":
		return nil, newTokenError("This token isn't bound to a key. Send it as Bearer.")
	case !p.Proves:
		return nil, newTokenError("This token is bound to a key. Send it as DPoP, with a proof.")
	}
	proof, err := VerifyProof(r.Header, Request{Method: r.Method, URL: url, Token: p.Token, Key: key, Now: now})
	if err != nil {
		return nil, err
	}
	return &proof, nil
}

func newTokenError(sentence string) error {
	return &fault.Error{Kind: fault.Unauthenticated, Code: CodeInvalidToken, Message: sentence}
}

// NewUsedError is the refusal of a proof that was used before.
func NewUsedError() error { return NewProofError("This DPoP proof was used before (jti).") }

// NewProofError is a refusal of a proof.
func NewProofError(sentence string) error {
	return &fault.Error{Kind: fault.Unauthenticated, Code: CodeInvalidProof, Message: sentence}
}

// proofClaims are the claims of a proof (RFC 9449 section 4.2).
type proofClaims struct {
	ID        string           `json:"jti"`
	Method    string           `json:"htm"`
	URL       string           `json:"htu"`
	TokenHash string           `json:"ath"`
	IssuedAt  *jwt.NumericDate `json:"iat"`
	Expiry    *jwt.NumericDate `json:"exp"`
}

// findMismatch describes what is wrong with the claims; empty: nothing.
func (c proofClaims) findMismatch(r Request) string {
	switch {
	case c.ID == "":
		return "The DPoP proof has no identifier (jti)."
	case c.Method != r.Method:
		return "The DPoP proof is for another method (htm)."
	case !isSameURL(c.URL, r.URL):
		return "The DPoP proof is for another URL (htu)."
	case c.IssuedAt == nil:
		return "The DPoP proof has no time (iat)."
	case c.IssuedAt.Time().After(r.Now.Add(proofLeeway)), c.IssuedAt.Time().Before(r.Now.Add(-maxProofAge)):
		return "The DPoP proof isn't from now (iat). Check the clock."
	case c.Expiry != nil && !c.Expiry.Time().After(r.Now):
		return "The DPoP proof has expired (exp)."
	case r.Token != "" && !isHashOf(c.TokenHash, r.Token):
		return "The DPoP proof is for another token (ath)."
	}
	return ""
}

// isHashOf reports whether ath is the hash of a token.
func isHashOf(ath, token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare([]byte(ath), []byte(base64.RawURLEncoding.EncodeToString(sum[:]))) == 1
}

func isSameURL(said, real string) bool {
	n := normalizeURL(said)
	return said == real || n != "" && n == normalizeURL(real)
}

// normalizeURL returns a URL without query and fragment, scheme and host in lower case, without a default port (RFC 9449 section 4.3);
// empty for none.
func normalizeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil {
		return ""
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return scheme + "://" + host + path
}
