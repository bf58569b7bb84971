package authserver

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/oauth"
)

// Paths of a tenant's issuer, which names members and agents to authorization servers by token exchange (RFC 8693).
const (
	issuerPath    = credentials.IssuersPath + "{tenant}"
	discoveryPath = "/.well-known/openid-configuration"
	keysPath      = "/jwks.json"
)

var errNoIssuer = &oauthError{Status: http.StatusNotFound, Code: "invalid_request", Description: "there is no such issuer"}

// issuerMetadata are the fields of OpenID Connect Discovery section 3 that verifiers read. The issuer signs no person in.
type issuerMetadata struct {
	Issuer        string   `json:"issuer"`
	Keys          string   `json:"jwks_uri"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	ResponseTypes []string `json:"response_types_supported"`
	Claims        []string `json:"claims_supported"`
}

func (s *Server) serveIssuer(w http.ResponseWriter, r *http.Request) error {
	tenant, _, err := s.readIssuer(r)
	if err != nil {
		return err
	}
	issuer := s.issuer + credentials.IssuersPath + tenant.String()
	writePublic(w, issuerMetadata{
		Issuer: issuer, Keys: issuer + keysPath, Algorithms: oauth.SigningAlgorithms, SubjectTypes: []string{"public"}, ResponseTypes: []string{"id_token"},
		Claims: []string{"iss", "sub", "aud", "exp", "iat", "jti", "email", "email_verified", "act", "may_act"},
	})
	return nil
}

func (s *Server) serveKeys(w http.ResponseWriter, r *http.Request) error {
	_, keys, err := s.readIssuer(r)
	if err != nil {
		return err
	}
	writePublic(w, map[string]any{"keys": keys})
	return nil
}

// readIssuer returns the tenant of the path and its public keys. A tenant without token exchange has no issuer.
func (s *Server) readIssuer(r *http.Request) (connectors.TenantID, []json.RawMessage, error) {
	id, err := uuid.Parse(chi.URLParam(r, "tenant"))
	if err != nil || id.String() != chi.URLParam(r, "tenant") {
		return connectors.TenantID{}, nil, errNoIssuer
	}
	tenant := connectors.TenantID{UUID: id}
	found, err := s.publicKeys.List(r.Context(), tenant)
	if err == nil && len(found) == 0 {
		err = errNoIssuer
	}
	return tenant, found, err
}

// writePublic writes a document that any program may read, and keep for five minutes.
func writePublic(w http.ResponseWriter, document any) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_ = json.NewEncoder(w).Encode(document) // a caller that has gone needs no answer
}
