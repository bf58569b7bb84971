package api

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// authInput is a connector's authentication. In a patch an absent field keeps its value while the type stays;
// another type resets all. Secrets are never read back.
type authInput struct {
	Type     *string      `json:"type,omitempty" enum:"none,bearer,api_key,basic,oauth2,client_credentials,private_key_jwt"`
	Header   *string      `json:"header,omitempty" doc:"For api_key: the name of the header, query parameter or cookie. Default: x-api-key."`
	In       *string      `json:"in,omitempty" enum:"header,query,cookie" doc:"For api_key: where it is sent. Default: header. An MCP server takes no other."`
	Token    *secret.Text `json:"token,omitempty" writeOnly:"true" doc:"For bearer."`
	Key      *secret.Text `json:"key,omitempty" writeOnly:"true" doc:"For api_key."`
	Username *string      `json:"username,omitempty" doc:"For basic."`
	Password *secret.Text `json:"password,omitempty" writeOnly:"true" doc:"For basic."`

	ClientID     *string      `json:"client_id,omitempty" doc:"For oauth2 (empty: Patchbay registers itself), client_credentials and private_key_jwt."`
	ClientSecret *secret.Text `json:"client_secret,omitempty" writeOnly:"true" doc:"For client_credentials and manually registered oauth2 clients."`
	PrivateKey   *secret.Text `json:"private_key,omitempty" writeOnly:"true" doc:"For private_key_jwt, as PEM."`
	// WorkloadToken is not secret, but belongs to the secrets.
	WorkloadToken *string  `json:"workload_token,omitempty" writeOnly:"true" doc:"For client_credentials, in place of client_secret: the name of a token that the operator offers (PATCHBAY_WORKLOAD_TOKENS)."`
	Algorithm     *string  `json:"algorithm,omitempty" doc:"For private_key_jwt, such as ES256. Empty: the key's default."`
	Scopes        []string `json:"scopes,omitempty" nullable:"false" doc:"Scopes to request. Empty: those that the server requires."`

	Issuer                   *string      `json:"issuer,omitempty" doc:"The authorization server. Empty: the one that the MCP server names."`
	AuthorizationEndpoint    *string      `json:"authorization_endpoint,omitempty" doc:"For oauth2. Empty: from metadata."`
	TokenEndpoint            *string      `json:"token_endpoint,omitempty" doc:"Empty: from metadata."`
	Resource                 nullableText `json:"resource,omitempty" doc:"The resource parameter (RFC 8707). Empty: none is sent. Null: from metadata."`
	TokenEndpointAuthMethod  *string      `json:"token_endpoint_auth_method,omitempty" doc:"none, client_secret_basic or client_secret_post. Empty: the best method in the metadata."`
	AllowMissingPKCEMetadata *bool        `json:"allow_missing_pkce_metadata,omitempty" doc:"For oauth2: use PKCE even if the server's metadata does not list it."`
	TokenExchange            *string      `json:"token_exchange,omitempty" doc:"For oauth2 with a credential per agent and an issuer: tokens come from token exchange (RFC 8693) for the agent's member, else for the agent. actor_token: a token of its own names the agent. act_claim: the claim act does. Empty: a person connects each account."`
}

// nullableText distinguishes null from an absent field.
type nullableText struct {
	given bool
	value *string
}

// UnmarshalJSON implements json.Unmarshaler. It is called for present fields only.
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
		d.Auth = connectors.Auth{Type: connectors.AuthType(*a.Type)} // the header belonged to the former type,
		d.OAuth = connectors.OAuthSettings{}                         // and so did these
	}
	setIfPresent(&d.Auth.Header, a.Header)
	if a.In != nil {
		d.Auth.In = connectors.KeyIn(strings.TrimPrefix(*a.In, "header"))
	}
	a.applyOAuth(&d.OAuth)
}

func (a authInput) applyOAuth(o *connectors.OAuthSettings) {
	setIfPresent(&o.ClientID, a.ClientID)
	setIfPresent(&o.Algorithm, a.Algorithm)
	setIfPresent(&o.Issuer, a.Issuer)
	setIfPresent(&o.AuthorizationEndpoint, a.AuthorizationEndpoint)
	setIfPresent(&o.TokenEndpoint, a.TokenEndpoint)
	setIfPresent(&o.TokenEndpointAuthMethod, a.TokenEndpointAuthMethod)
	setIfPresent(&o.AllowMissingPKCEMetadata, a.AllowMissingPKCEMetadata)
	if a.TokenExchange != nil {
		o.TokenExchange = connectors.TokenExchange(*a.TokenExchange)
	}
	if a.Scopes != nil {
		o.Scopes = a.Scopes
	}
	if a.Resource.given {
		o.Resource = a.Resource.value
	}
}

// toSecret returns the input's secrets; zero if it has none. A machine's client id is a setting.
func (p ConnectorFields) toSecret() connectors.Secret {
	var s connectors.Secret
	if p.Auth != nil {
		setIfPresent(&s.Token, p.Auth.Token)
		setIfPresent(&s.Key, p.Auth.Key)
		setIfPresent(&s.Username, p.Auth.Username)
		setIfPresent(&s.Password, p.Auth.Password)
		setIfPresent(&s.ClientSecret, p.Auth.ClientSecret)
		setIfPresent(&s.PrivateKey, p.Auth.PrivateKey)
		setIfPresent(&s.WorkloadToken, p.Auth.WorkloadToken)
	}
	return s
}
