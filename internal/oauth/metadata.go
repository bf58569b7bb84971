package oauth

import (
	"cmp"
	"slices"
)

// Metadata is what an authorization server says about itself (RFC 8414 §2), checked, together with what an admin set in
// its place. It holds no secret and may be stored as JSON.
type Metadata struct {
	Issuer                string `json:"issuer"` // as its document writes it: what iss is compared with
	AuthorizationEndpoint string `json:"authorization_endpoint,omitempty"`
	TokenEndpoint         string `json:"token_endpoint"`
	// DocumentTokenEndpoint is the document's token endpoint, or the issuer without a document, where TokenEndpoint is an admin's; else
	// empty.
	DocumentTokenEndpoint string `json:"document_token_endpoint,omitempty"`
	RegistrationEndpoint  string `json:"registration_endpoint,omitempty"`
	RevocationEndpoint    string `json:"revocation_endpoint,omitempty"`
	UserinfoEndpoint      string `json:"userinfo_endpoint,omitempty"` // OpenID Connect Discovery section 3

	ScopesSupported               []string `json:"scopes_supported,omitempty"`
	GrantTypesSupported           []string `json:"grant_types_supported,omitempty"`
	PromptValuesSupported         []string `json:"prompt_values_supported,omitempty"`
	TokenEndpointAuthMethods      []string `json:"token_endpoint_auth_methods_supported,omitempty"`
	TokenEndpointSigningAlgs      []string `json:"token_endpoint_auth_signing_alg_values_supported,omitempty"`
	CodeChallengeMethodsSupported []string `json:"code_challenge_methods_supported,omitempty"`
	DPoPSigningAlgs               []string `json:"dpop_signing_alg_values_supported,omitempty"` // RFC 9449 section 5.1
	GrantProfilesSupported        []string `json:"authorization_grant_profiles_supported,omitempty"`

	ClientIDMetadataDocumentSupported bool `json:"client_id_metadata_document_supported,omitempty"`
	// IssParameterSupported: every callback carries iss (RFC 9207).
	IssParameterSupported bool `json:"authorization_response_iss_parameter_supported,omitempty"`

	// Assumed: no document was found; the endpoints are the defaults of MCP 2025-03-26, or an admin's.
	Assumed bool `json:"assumed,omitempty"`
	// PinnedAuthMethod is the admin's; empty: chosen by what is supported.
	PinnedAuthMethod AuthMethod `json:"pinned_auth_method,omitempty"`
	// AllowMissingPKCE: the admin accepts a document that says nothing about PKCE.
	AllowMissingPKCE bool `json:"allow_missing_pkce,omitempty"`
}

// PinTokenEndpoint puts an admin's token endpoint in the place of the document's, which stays known.
func (m *Metadata) PinTokenEndpoint(endpoint string) {
	m.DocumentTokenEndpoint = cmp.Or(m.TokenEndpoint, m.Issuer)
	m.TokenEndpoint = endpoint
}

// NotePinnedTokenEndpoint completes metadata that was stored before DocumentTokenEndpoint was: where the connector names the token
// endpoint, the issuer stands for the document's.
func (m *Metadata) NotePinnedTokenEndpoint(endpoint string) {
	if endpoint != "" && m.DocumentTokenEndpoint == "" {
		m.DocumentTokenEndpoint = m.Issuer
	}
}

// HasForeignTokenEndpoint reports whether an admin's token endpoint is of another origin than the document's, or than the issuer
// without a document. Only a client that an admin entered is shown there: a registered one belongs to the issuer.
func (m Metadata) HasForeignTokenEndpoint() bool {
	if m.DocumentTokenEndpoint == "" {
		return false
	}
	own, ok := parsePlainURL(m.DocumentTokenEndpoint)
	used, fine := parsePlainURL(m.TokenEndpoint)
	return !ok || !fine || originURL(own) != originURL(used)
}

// checkClientOrigin refuses a token endpoint outside of the issuer's origin, unless an admin entered the
// client.
func (m Metadata) checkClientOrigin(step Step, r Registration) *Error {
	if r.Source == SourceConfigured || !m.HasForeignTokenEndpoint() {
		return nil
	}
	return ForeignTokenEndpoint(step, m)
}

// ForeignTokenEndpoint is the refusal to show a client of the issuer to a token endpoint of another origin.
func ForeignTokenEndpoint(step Step, m Metadata) *Error {
	return newRefusal(step, "the connector's token endpoint %s has another origin than %s; it needs its own client ID under Advanced in the connector's settings",
		shownURL(m.TokenEndpoint), shownURL(m.DocumentTokenEndpoint))
}

// ParseMetadata reads an authorization server's document leniently: a field of a wrong type counts as missing. Nothing
// is checked yet. ok is false where it is no JSON object.
func ParseMetadata(body []byte) (m Metadata, ok bool) {
	o, ok := readObject(body)
	if !ok {
		return Metadata{}, false
	}
	return Metadata{
		Issuer:                            o.textField("issuer"),
		AuthorizationEndpoint:             o.textField("authorization_endpoint"),
		TokenEndpoint:                     o.textField("token_endpoint"),
		RegistrationEndpoint:              o.textField("registration_endpoint"),
		RevocationEndpoint:                o.textField("revocation_endpoint"),
		UserinfoEndpoint:                  o.textField("userinfo_endpoint"),
		ScopesSupported:                   scopeTokens(o.textListField("scopes_supported")),
		GrantTypesSupported:               o.textListField("grant_types_supported"),
		PromptValuesSupported:             o.textListField("prompt_values_supported"),
		TokenEndpointAuthMethods:          o.textListField("token_endpoint_auth_methods_supported"),
		TokenEndpointSigningAlgs:          o.textListField("token_endpoint_auth_signing_alg_values_supported"),
		CodeChallengeMethodsSupported:     o.textListField("code_challenge_methods_supported"),
		DPoPSigningAlgs:                   o.textListField("dpop_signing_alg_values_supported"),
		GrantProfilesSupported:            o.textListField("authorization_grant_profiles_supported"),
		ClientIDMetadataDocumentSupported: o.boolField("client_id_metadata_document_supported"),
		IssParameterSupported:             o.boolField("authorization_response_iss_parameter_supported"),
	}, true
}

// ResourceMetadata is what a protected resource says about itself (RFC 9728 §2).
type ResourceMetadata struct {
	Resource             string
	AuthorizationServers []string
	ScopesSupported      []string
	TakesProofs          bool // it requires tokens that are bound to a key, or names algorithms of proofs
}

// ParseResourceMetadata decodes a protected resource's document leniently and unchecked. ok is false for
// another document.
func ParseResourceMetadata(body []byte) (m ResourceMetadata, ok bool) {
	o, ok := readObject(body)
	if !ok {
		return ResourceMetadata{}, false
	}
	m = ResourceMetadata{
		Resource:             o.textField("resource"),
		AuthorizationServers: o.textListField("authorization_servers"),
		ScopesSupported:      scopeTokens(o.textListField("scopes_supported")),
		TakesProofs:          o.boolField("dpop_bound_access_tokens_required") || len(o.textListField("dpop_signing_alg_values_supported")) > 0,
	}
	return m, m.Resource != "" || len(m.AuthorizationServers) > 0
}

// supportsGrant reports whether a grant type may be used. A server that lists none allows authorization_code
// (RFC 8414 section 2), and in practice the others too.
func (m Metadata) supportsGrant(grantType string) bool {
	return len(m.GrantTypesSupported) == 0 || slices.Contains(m.GrantTypesSupported, grantType)
}

// checkPKCE refuses a server that does not promise PKCE: without it a stolen code yields a token.
func (m Metadata) checkPKCE() *Error {
	methods := m.CodeChallengeMethodsSupported
	switch {
	case slices.Contains(methods, "S256"), m.Assumed:
		return nil
	case len(methods) == 0 && m.AllowMissingPKCE:
		return nil
	case len(methods) == 0:
		return newRefusal(StepAuthorize, `the authorization server doesn't advertise PKCE with S256; "Allow servers that don't advertise PKCE" in the connector's settings permits it`)
	}
	return newRefusal(StepAuthorize, "the authorization server supports PKCE without S256 only")
}
