package oauthtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math/big"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// verifyProof checks the proof of a request (RFC 9449 section 4.3) and returns the thumbprint of its key. token is the access token
// that came with it; empty: none. Each proof counts once.
func (s *Server) verifyProof(header http.Header, method, address, token string) (thumbprint, nonce string, err error) {
	if proofs := header.Values("DPoP"); len(proofs) != 1 {
		return "", "", errors.New("not one proof")
	}
	claims := jwt.MapClaims{}
	_, err = jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuedAt()).ParseWithClaims(header.Get("DPoP"), claims, func(t *jwt.Token) (any, error) {
		jwk, _ := t.Header["jwk"].(map[string]any)
		text := func(name string) string { v, _ := jwk[name].(string); return v }
		x, errX := base64.RawURLEncoding.DecodeString(text("x"))
		y, errY := base64.RawURLEncoding.DecodeString(text("y"))
		if t.Header["typ"] != "dpop+jwt" || len(jwk) != 4 || text("kty") != "EC" || text("crv") != "P-256" || errX != nil || errY != nil {
			return nil, errors.New("header of a proof")
		}
		// RFC 7638
		sum := sha256.Sum256([]byte(`{"crv":"P-256","kty":"EC","x":"` + text("x") + `","y":"` + text("y") + `"}`))
		thumbprint = base64.RawURLEncoding.EncodeToString(sum[:])
		return &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}, nil
	})
	if err != nil {
		return "", "", err
	}
	issued, _ := claims["iat"].(float64)
	hash := sha256.Sum256([]byte(token))
	id, _ := claims["jti"].(string)
	switch {
	case claims["htm"] != method || claims["htu"] != address:
		return "", "", errors.New("a proof of another request")
	case time.Since(time.Unix(int64(issued), 0)).Abs() > time.Minute:
		return "", "", errors.New("a proof of another time")
	case token != "" && claims["ath"] != base64.RawURLEncoding.EncodeToString(hash[:]):
		return "", "", errors.New("a proof of another token")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proofs[id] || id == "" {
		return "", "", errors.New("a proof that was used before")
	}
	s.proofs[id] = true
	nonce, _ = claims["nonce"].(string)
	return thumbprint, nonce, nil
}

// boundTo returns the thumbprint of the key to which a token is bound; empty: to none.
func (s *Server) boundTo(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.access[token]; a != nil && a.grant != nil {
		return a.grant.bound
	}
	return ""
}

// Proofs is how many valid proofs came.
func (s *Server) Proofs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.proofs)
}

// checkTokenProof answers a token request that has not the proof that the server wants, and returns the key's thumbprint otherwise.
func (s *Server) checkTokenProof(w http.ResponseWriter, r Request, b Behaviour) (thumbprint string, ok bool) {
	if !b.DPoP {
		return "", true
	}
	thumbprint, nonce, err := s.verifyProof(r.Header, http.MethodPost, s.Issuer+"/token", "")
	switch {
	case err != nil:
		writeError(w, http.StatusBadRequest, "invalid_dpop_proof")
		return "", false
	case nonce != b.Nonce:
		w.Header().Set("DPoP-Nonce", b.Nonce)
		writeError(w, http.StatusBadRequest, "use_dpop_nonce")
		return "", false
	}
	return thumbprint, true
}
