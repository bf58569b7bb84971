package authserver

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/jws"
	"patchbay/internal/oauth"
)

// serverMetadata is the authorization server metadata (RFC 8414 section 2).
type serverMetadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	IntrospectionEndpoint string   `json:"introspection_endpoint"`
	ResponseTypes         []string `json:"response_types_supported"`
	ResponseModes         []string `json:"response_modes_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	TokenAuth             []string `json:"token_endpoint_auth_methods_supported"`
	RevocationAuth        []string `json:"revocation_endpoint_auth_methods_supported"`
	Challenges            []string `json:"code_challenge_methods_supported"`
	Scopes                []string `json:"scopes_supported"`
	Iss                   bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207 §3
	Documents             bool     `json:"client_id_metadata_document_supported"`
	GrantProfiles         []string `json:"authorization_grant_profiles_supported"`

	ProofAlgorithms []string `json:"dpop_signing_alg_values_supported"` // RFC 9449 section 5.1
}

func (s *Server) serveMetadata(w http.ResponseWriter, _ *http.Request) {
	none := []string{"none"}
	w.Header().Set("Access-Control-Allow-Origin", "*") // public data
	writeJSON(w, http.StatusOK, serverMetadata{
		Issuer:                s.issuer,
		AuthorizationEndpoint: s.issuer + AuthorizePath,
		TokenEndpoint:         s.issuer + tokenPath,
		RegistrationEndpoint:  s.issuer + registerPath,
		RevocationEndpoint:    s.issuer + revokePath,
		IntrospectionEndpoint: s.issuer + introspectPath,
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		GrantTypes:            []string{"authorization_code", "refresh_token", jwtBearer},
		GrantProfiles:         []string{oauth.GrantProfileIdentity},
		TokenAuth:             none,
		RevocationAuth:        none,
		Challenges:            []string{"S256"},
		Scopes:                []string{Scope, string(connectors.ScopeAdminRead), string(connectors.ScopeAdmin)},
		Iss:                   true,
		Documents:             true,
		ProofAlgorithms:       jws.Algorithms(),
	})
}
