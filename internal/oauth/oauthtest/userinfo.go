package oauthtest

import (
	"net/http"
	"slices"
	"strings"
)

// serveUserinfo answers tokens with the scope openid. A token that is bound to a key needs its proof.
func (s *Server) serveUserinfo(w http.ResponseWriter, r Request, b Behaviour) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	scopes, ok := s.Accepts(token)
	if bound := s.boundTo(token); ok && bound != "" {
		thumbprint, _, err := s.verifyProof(r.Header, http.MethodGet, s.Issuer+"/userinfo", token)
		ok = err == nil && thumbprint == bound && scheme == "DPoP"
	} else {
		ok = ok && scheme == "Bearer"
	}
	switch {
	case b.Userinfo == nil:
		http.Error(w, "no such page", http.StatusNotFound)
	case !ok || !slices.Contains(scopes, "openid"):
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		http.Error(w, "no", http.StatusUnauthorized)
	default:
		sendJSON(w, http.StatusOK, b.Userinfo)
	}
}
