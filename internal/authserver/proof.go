package authserver

import (
	"context"
	"crypto/sha256"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/store"
)

// verifyProof verifies the DPoP proof of a token request (RFC 9449 section 5); nil: there is none. [useProof] must follow before a token
// is issued.
func (s *Server) verifyProof(r *http.Request) (*jws.Proof, error) {
	if !jws.HasProof(r.Header) {
		return nil, nil //nolint:nilnil // no proof is no error: tokens of the request are not bound
	}
	proof, err := jws.VerifyProof(r.Header, jws.Request{Method: http.MethodPost, URL: s.issuer + tokenPath, Now: s.now()})
	if err != nil {
		return nil, invalidProof(fault.As(err).Message)
	}
	return &proof, nil
}

func invalidProof(says string) *oauthError {
	return &oauthError{Code: jws.CodeInvalidProof, Description: says}
}

// useProof records the use of a proof in the transaction that issues the token, and returns why it is refused; nil: it is not. needed: the
// client gets bound tokens only.
func useProof(ctx context.Context, tx *store.Tenant, proof *jws.Proof, needed bool) (*oauthError, error) {
	switch {
	case proof == nil && needed:
		return invalidProof("this client needs a DPoP proof"), nil
	case proof == nil:
		return nil, nil
	}
	first, err := tx.Workloads().UseProof(ctx, proof.ID[:], proof.ExpiresAt)
	if err != nil || first {
		return nil, err
	}
	return invalidProof("this DPoP proof was used before (jti)"), nil
}

// tokenType returns the type of a token, which is bound to a key unless that is empty.
func tokenType(key string) string {
	if key == "" {
		return "Bearer"
	}
	return "DPoP"
}

// keyOf returns the thumbprint of a proof's key; empty: there is no proof.
func keyOf(proof *jws.Proof) string {
	if proof == nil {
		return ""
	}
	return proof.Key
}

// codeBinding returns what the MAC of a code covers. A code that only a key may redeem is unknown to a release without proofs.
func codeBinding(key string, needsProof bool) string {
	if key == "" && needsProof {
		return "any key"
	}
	return key
}

// refreshSalt returns the salt of a client's refresh tokens. Bound ones have another, so that they are unknown to a release without proofs.
func refreshSalt(salt []byte, key string) []byte {
	if key == "" {
		return salt
	}
	sum := sha256.Sum256(append([]byte(key), salt...))
	return sum[:]
}

// bindClient binds a client and its refresh tokens to the key of a proof (RFC 9449 section 5), and returns it bound. Its codes and refresh
// tokens need that key from now on.
func bindClient(ctx context.Context, tx *store.Tenant, locked store.LockedAgentClient, proof *jws.Proof) (store.LockedAgentClient, error) {
	if proof == nil || locked.Key == proof.Key {
		return locked, nil
	}
	locked.Key = proof.Key
	return locked, tx.Workloads().BindClient(ctx, connectors.AgentClientID{UUID: locked.ID.UUID}, proof.Key)
}
