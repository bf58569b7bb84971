package authserver

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	josejson "github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"

	"patchbay/internal/connectors"
	"patchbay/internal/jws"
)

// Bounds of assertions.
const (
	maxAssertion     = 16 << 10       // bytes
	maxAssertionLife = 24 * time.Hour // exp - iat
	assertionLeeway  = time.Minute    // of iat and nbf, for the issuer's clock
)

// assertion is a verified JWT of a workload.
type assertion struct {
	digest    [sha256.Size]byte // names it: of issuer and jti, or of the claims
	hash      [sha256.Size]byte // of its text
	expiresAt time.Time
	proof     *jws.Proof // of the request; nil: none

	confirmation *confirmation
}

// workloadClaims are the claims in use of a workload's JWT.
type workloadClaims struct {
	jwt.Claims
	Confirmation *confirmation `json:"cnf"`
}

// permitsProof reports whether a request with the proof may use an assertion that is bound to a key (RFC 7800 section 3). nil: it is not
// bound. Without a thumbprint it is bound in another way.
func (c *confirmation) permitsProof(p *jws.Proof) bool {
	return c == nil || p != nil && c.Thumbprint == p.Key
}

// verifyAssertion verifies a workload's JWT (RFC 7523 section 3). why: what is wrong with it, for the log; empty: nothing.
//
//  1. The claims are compared first. Nothing is fetched for a JWT that is wrong anyway, and an unknown workload, which
//     has no issuer, is refused here after the same work.
//  2. The keys are those of the workload, or its issuer's.
//  3. One of them must verify the signature.
func (s *Server) verifyAssertion(ctx context.Context, tenant connectors.TenantID, w connectors.Workload, text string) (a assertion, why string, err error) {
	if len(text) > maxAssertion {
		return a, "too long", nil
	}
	signed, err := jws.Parse(text)
	if err != nil {
		return a, "no JWT with an accepted algorithm", nil //nolint:nilerr // a reason to refuse it
	}
	payload := signed.UnsafePayloadWithoutVerification()
	var claims workloadClaims
	if err := josejson.Unmarshal(payload, &claims); err != nil {
		return a, "unreadable claims", nil //nolint:nilerr // likewise
	}
	if why := s.checkClaims(w, claims.Claims); why != "" {
		return a, why, nil
	}
	header := signed.Signatures[0].Protected
	keys, err := s.findAssertionKeys(ctx, tenant, w, header.KeyID)
	if err != nil {
		return a, "", err
	}
	if !slices.ContainsFunc(keys, func(key jose.JSONWebKey) bool {
		if !jws.IsKeyFor(key, jose.SignatureAlgorithm(header.Algorithm)) {
			return false
		}
		_, err := signed.Verify(key.Key)
		return err == nil
	}) {
		return a, "unknown key or wrong signature", nil
	}
	a = newAssertion(text, payload, claims.Claims)
	a.confirmation = claims.Confirmation
	return a, "", nil
}

// newAssertion returns what is recorded of a JWT. Without a jti the claims name it: a signature and the encoding of a
// JWT can be changed by anyone without making it invalid.
func newAssertion(text string, payload []byte, claims jwt.Claims) assertion {
	named := "claims\x00" + string(payload)
	if claims.ID != "" {
		named = "jti\x00" + claims.Issuer + "\x00" + claims.ID
	}
	return assertion{digest: sha256.Sum256([]byte(named)), hash: sha256.Sum256([]byte(text)), expiresAt: claims.Expiry.Time()}
}

// checkClaims compares a JWT's claims with the workload's, this server and the time. It describes what is wrong.
func (s *Server) checkClaims(w connectors.Workload, c jwt.Claims) string {
	now := s.now()
	issued := now
	if c.IssuedAt != nil {
		issued = c.IssuedAt.Time()
	}
	switch {
	case w.Issuer == "":
		return "unknown workload"
	case c.Issuer != w.Issuer:
		return "another issuer (iss)"
	case c.Subject != w.Subject:
		return "another subject (sub)"
	case !c.Audience.Contains(s.issuer) && !c.Audience.Contains(s.issuer+tokenPath):
		return "another audience (aud)"
	case c.Expiry == nil:
		return "no expiry (exp)"
	case !c.Expiry.Time().After(now):
		return "expired (exp)"
	case issued.After(now.Add(assertionLeeway)):
		return "from the future (iat)"
	case c.NotBefore != nil && c.NotBefore.Time().After(now.Add(assertionLeeway)):
		return "not yet valid (nbf)"
	case c.Expiry.Time().After(issued.Add(maxAssertionLife)):
		return "valid for more than a day (exp)"
	}
	return ""
}

// findAssertionKeys returns the keys that may have signed: the workload's own, or those at its issuer.
func (s *Server) findAssertionKeys(ctx context.Context, tenant connectors.TenantID, w connectors.Workload, kid string) ([]jose.JSONWebKey, error) {
	if w.Keys == nil {
		return s.keySets.findKeys(ctx, keySetID{tenant: tenant, issuer: w.Issuer}, kid)
	}
	var set rawKeySet
	if err := json.Unmarshal(w.Keys, &set); err != nil {
		return nil, err
	}
	return selectKeys(set.publicKeys(), kid), nil
}
