package oauthtest

import (
	"encoding/json"
	"io"
	"net/http"
)

func (s *Server) serveMetadata(w http.ResponseWriter, r Request, b Behaviour) {
	place := map[WellKnown]string{
		AtOAuth:          "/.well-known/oauth-authorization-server" + s.path,
		AtOpenID:         "/.well-known/openid-configuration" + s.path,
		AtOpenIDAppended: s.path + "/.well-known/openid-configuration",
	}[b.WellKnown]
	switch {
	case b.WellKnown == AsHTML:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>Welcome</title>")
	case b.WellKnown == Failing:
		http.Error(w, "down", http.StatusServiceUnavailable)
	case r.Path != place:
		http.Error(w, "no such page", http.StatusNotFound)
	default:
		sendJSON(w, http.StatusOK, s.metadataDocument(b))
	}
}

func (s *Server) metadataDocument(b Behaviour) Document {
	doc := Document{
		"issuer":                                s.Issuer,
		"authorization_endpoint":                s.Issuer + "/authorize",
		"token_endpoint":                        s.Issuer + "/token",
		"response_types_supported":              []string{"code"},
		"grant_types_supported":                 []string{"authorization_code", "refresh_token", "client_credentials"},
		"code_challenge_methods_supported":      []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post", "none", "private_key_jwt"},
	}
	set := func(name string, v any, when bool) {
		if when {
			doc[name] = v
		}
	}
	set("issuer", b.DocumentIssuer, b.DocumentIssuer != "")
	set("registration_endpoint", s.Issuer+"/register", !b.NoRegistration)
	set("revocation_endpoint", s.Issuer+"/revoke", !b.NoRevocation)
	set("userinfo_endpoint", s.Issuer+"/userinfo", b.Userinfo != nil)
	set("scopes_supported", b.Scopes, b.Scopes != nil)
	set("token_endpoint_auth_methods_supported", b.AuthMethods, b.AuthMethods != nil)
	set("code_challenge_methods_supported", b.PKCE, b.PKCE != nil)
	set("client_id_metadata_document_supported", true, b.ClientDocuments)
	set("authorization_response_iss_parameter_supported", true, b.Iss == IssRight || b.Iss == IssWrong || b.Iss == IssMissing)
	set("dpop_signing_alg_values_supported", []string{"RS256", "ES256"}, b.DPoP)
	if b.NoPKCE {
		delete(doc, "code_challenge_methods_supported")
	}
	if b.Edit != nil {
		b.Edit(doc)
	}
	return doc
}

func (s *Server) serveRegister(w http.ResponseWriter, r Request, b Behaviour) {
	var asked struct {
		RedirectURIs []string `json:"redirect_uris"`
		Method       string   `json:"token_endpoint_auth_method"`
		Scope        string   `json:"scope"`
	}
	switch err := json.Unmarshal([]byte(r.Body), &asked); {
	case b.RegistrationStatus != 0:
		http.Error(w, "no", b.RegistrationStatus)
		return
	case b.NoRegistration:
		http.Error(w, "no such page", http.StatusNotFound)
		return
	case err != nil || len(asked.RedirectURIs) == 0:
		writeError(w, http.StatusBadRequest, "invalid_redirect_uri")
		return
	case b.RefuseScopesRegister && asked.Scope != "":
		writeError(w, http.StatusBadRequest, "invalid_client_metadata")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &registeredClient{id: s.newSecret("client")[:20], method: asked.Method, redirects: asked.RedirectURIs}
	s.issued = s.issued[:len(s.issued)-1] // a client id is no secret
	doc := Document{"client_id": c.id, "redirect_uris": c.redirects, "client_id_issued_at": 1}
	if b.PublicClients {
		c.method = "none"
	}
	if c.method != "none" {
		c.secret = s.newSecret("client-secret:&%")
		doc["client_secret"], doc["client_secret_expires_at"] = c.secret, 0
	}
	doc["token_endpoint_auth_method"] = c.method
	s.clients[c.id] = c
	sendJSON(w, http.StatusCreated, doc)
}

// writeError answers with an error and a description that no page may repeat.
func writeError(w http.ResponseWriter, status int, code string) {
	sendJSON(w, status, Document{"error": code, "error_description": Reflected})
}

// Reflected stands in every error description.
const Reflected = "REFLECTED-<script>alert(1)</script>-oauthtest"
