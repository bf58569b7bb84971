package connectors

import "time"

// AuthType is an upstream authentication method.
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

// DefaultAPIKeyHeader is the header of an api_key unless the connector names one.
const DefaultAPIKeyHeader = "x-api-key"

// CredentialStatus is whether a stored credential is usable.
type CredentialStatus string

// The credential states.
const (
	CredentialActive        CredentialStatus = "active"
	CredentialExpired       CredentialStatus = "expired"        // not refreshable
	CredentialRefreshFailed CredentialStatus = "refresh_failed" // temporarily, retried
	CredentialRevoked       CredentialStatus = "revoked"        // a person must reconnect
)

// DefaultAccount is the name of an account that was not given one. Its owner has no other account at the connector.
const DefaultAccount = "default"

// GivenName returns the name of an account for people; empty: it was not given one.
func GivenName(account string) string {
	if account == DefaultAccount {
		return ""
	}
	return account
}

// Credential is a stored credential without its secret.
type Credential struct {
	ID          CredentialID
	ConnectorID ConnectorID
	AgentID     *AgentID // nil: the shared one
	Name        string   // of the account, unique among those of its owner
	Syncs       bool     // syncs of the connector use it
	AgentSlug   string   // in lists; empty: the shared one
	AgentName   string   // likewise
	Type        AuthType
	Origin      string // the only origin that it is sent to
	Status      CredentialStatus
	Account     string   // the account, if known: the user name of basic
	Identity    Identity // the account at the authorization server, of oauth2
	Member      *UserID  // the tokens come from this member's sign-in at the provider; nil: connected otherwise
	Scopes      []string
	ExpiresAt   *time.Time
	RefreshedAt *time.Time
	LastUsedAt  *time.Time
	Error       string    // one sentence; empty: none
	Upstream    *Upstream // what the server said to it, only with Error; nil: nothing
	Version     int
	CreatedAt   time.Time
	UpdatedAt   time.Time
}
