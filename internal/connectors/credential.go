package connectors

import "time"

// AuthType is a way to authenticate to an upstream.
type AuthType string

// The auth types.
const (
	AuthNone              AuthType = "none"
	AuthBearer            AuthType = "bearer"
	AuthAPIKey            AuthType = "api_key"
	AuthBasic             AuthType = "basic"
	AuthOAuth2            AuthType = "oauth2"
	AuthClientCredentials AuthType = "client_credentials"
	AuthPrivateKeyJWT     AuthType = "private_key_jwt"
)

// DefaultAPIKeyHeader carries an api_key where the connector names no header.
const DefaultAPIKeyHeader = "x-api-key"

// CredentialStatus says whether a stored credential can be used.
type CredentialStatus string

// The credential states.
const (
	CredentialActive        CredentialStatus = "active"
	CredentialExpired       CredentialStatus = "expired"        // no way to refresh
	CredentialRefreshFailed CredentialStatus = "refresh_failed" // temporarily, still tried
	CredentialRevoked       CredentialStatus = "revoked"        // a person must reconnect
)

// Credential is what may be told of a stored credential: everything but its secret.
type Credential struct {
	ID          CredentialID
	ConnectorID ConnectorID
	AgentID     *AgentID // nil: the shared one
	Type        AuthType
	Origin      string // what it was given for, and the only place that it is sent to
	Status      CredentialStatus
	Account     string // who it is, where known: the user name of basic
	Scopes      []string
	ExpiresAt   *time.Time
	RefreshedAt *time.Time
	LastUsedAt  *time.Time
	Error       string // one sentence; empty: none
	Version     int
	CreatedAt   time.Time
	UpdatedAt   time.Time
}
