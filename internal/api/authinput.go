package api

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// authInput says how a connector is authenticated, and with what. In a change, what is absent stays as it is while the type
// stays; another type starts anew. The secrets are written and never read back.
type authInput struct {
	Type     *string      `json:"type,omitempty" enum:"none,bearer,api_key,basic,oauth2,client_credentials,private_key_jwt"`
	Header   *string      `json:"header,omitempty" doc:"Of api_key; x-api-key where it is absent."`
	Token    *secret.Text `json:"token,omitempty" writeOnly:"true" doc:"Of bearer."`
	Key      *secret.Text `json:"key,omitempty" writeOnly:"true" doc:"Of api_key."`
	Username *string      `json:"username,omitempty" doc:"Of basic."`
	Password *secret.Text `json:"password,omitempty" writeOnly:"true" doc:"Of basic."`

	ClientID     *string      `json:"client_id,omitempty" doc:"Of oauth2 (empty: Patchbay registers itself), client_credentials and private_key_jwt."`
	ClientSecret *secret.Text `json:"client_secret,omitempty" writeOnly:"true" doc:"Of client_credentials, and of an oauth2 client that was registered by hand."`
	PrivateKey   *secret.Text `json:"private_key,omitempty" writeOnly:"true" doc:"Of private_key_jwt: PEM."`
	Algorithm    *string      `json:"algorithm,omitempty" doc:"Of private_key_jwt, as ES256; empty: the usual one for the key."`
	Scopes       []string     `json:"scopes,omitempty" nullable:"false" doc:"What to ask for; empty: what the server says that it needs."`

	Issuer                   *string      `json:"issuer,omitempty" doc:"The authorization server; empty: the one that the MCP server names."`
	AuthorizationEndpoint    *string      `json:"authorization_endpoint,omitempty" doc:"Of oauth2; empty: as published."`
	TokenEndpoint            *string      `json:"token_endpoint,omitempty" doc:"Empty: as published."`
	Resource                 nullableText `json:"resource,omitempty" doc:"The resource parameter (RFC 8707). Empty: none is sent; null: as published."`
	TokenEndpointAuthMethod  *string      `json:"token_endpoint_auth_method,omitempty" doc:"none, client_secret_basic or client_secret_post; empty: the best that is published."`
	AllowMissingPKCEMetadata *bool        `json:"allow_missing_pkce_metadata,omitempty" doc:"Of oauth2: use PKCE although the server does not publish that it can."`
}

// nullableText is a text for which null says something else than absence does.
type nullableText struct {
	given bool
	value *string
}

// UnmarshalJSON implements json.Unmarshaler. It is called for what is there.
func (n *nullableText) UnmarshalJSON(raw []byte) error {
	n.given = true
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return json.Unmarshal(raw, &n.value)
}

// Schema implements huma.SchemaProvider.
func (nullableText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

func (a authInput) apply(d *connectors.Draft) {
	if a.Type != nil && connectors.AuthType(*a.Type) != d.Auth.Type {
		d.Auth = connectors.Auth{Type: connectors.AuthType(*a.Type)} // the header belonged to the other type,
		d.OAuth = connectors.OAuthSettings{}                         // and so did these
	}
	set(&d.Auth.Header, a.Header)
	a.applyOAuth(&d.OAuth)
}

func (a authInput) applyOAuth(o *connectors.OAuthSettings) {
	set(&o.ClientID, a.ClientID)
	set(&o.Algorithm, a.Algorithm)
	set(&o.Issuer, a.Issuer)
	set(&o.AuthorizationEndpoint, a.AuthorizationEndpoint)
	set(&o.TokenEndpoint, a.TokenEndpoint)
	set(&o.TokenEndpointAuthMethod, a.TokenEndpointAuthMethod)
	set(&o.AllowMissingPKCEMetadata, a.AllowMissingPKCEMetadata)
	if a.Scopes != nil {
		o.Scopes = a.Scopes
	}
	if a.Resource.given {
		o.Resource = a.Resource.value
	}
}

// secret is what of the input is secret; empty where nothing of it is. The client id of a machine is a setting.
func (p connectorPatch) secret() connectors.Secret {
	var s connectors.Secret
	if p.Auth != nil {
		set(&s.Token, p.Auth.Token)
		set(&s.Key, p.Auth.Key)
		set(&s.Username, p.Auth.Username)
		set(&s.Password, p.Auth.Password)
		set(&s.ClientSecret, p.Auth.ClientSecret)
		set(&s.PrivateKey, p.Auth.PrivateKey)
	}
	return s
}
