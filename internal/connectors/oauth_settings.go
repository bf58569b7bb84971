package connectors

// OAuthSettings are what an admin sets in place of what an authorization server says of itself. The zero value leaves
// everything to be discovered and registered. The JSON names are stored: they never change.
type OAuthSettings struct {
	ClientID                 string   `json:"client_id,omitempty"`
	Scopes                   []string `json:"scopes,omitempty"`
	Issuer                   string   `json:"issuer,omitempty"`
	AuthorizationEndpoint    string   `json:"authorization_endpoint,omitempty"`
	TokenEndpoint            string   `json:"token_endpoint,omitempty"`
	Resource                 *string  `json:"resource,omitempty"` // nil: as published; "": none is sent
	TokenEndpointAuthMethod  string   `json:"token_endpoint_auth_method,omitempty"`
	AllowMissingPKCEMetadata bool     `json:"allow_missing_pkce_metadata,omitempty"`
}
