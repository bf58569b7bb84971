package store

import (
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
)

// Starter is who began something that another request ends. Its JSON names are stored: they never change.
type Starter struct {
	Type string     `json:"type"` // as of an Event
	ID   *uuid.UUID `json:"id,omitempty"`
	Name string     `json:"name"`
}

// NewFlow is an authorization that a person is about to be sent to. It lives ten minutes.
type NewFlow struct {
	StateHash   []byte // SHA-256
	BrowserHash []byte // of what binds the browser
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID // nil: the shared credential
	StartedBy   Starter
	Origin      string // of the connector's URL, as it was seen: what the grant will be for
	Server      oauth.Metadata
	ClientID    string
	Resource    string // empty: none is sent
	Scopes      []string
	RedirectURI string
	ReturnTo    string
	Verifier    secret.Text
}

// Flow is a pending authorization, taken: nobody finds it again. [Vault.Verifier] opens its verifier.
type Flow struct {
	NewFlow   // without the verifier
	ID        uuid.UUID
	Tenant    connectors.TenantID
	CreatedAt time.Time
	ExpiresAt time.Time

	sealed []byte
}

// NewConnectLink is a page to be sent to the person who owns an account.
type NewConnectLink struct {
	TokenHash   []byte // SHA-256
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID // nil: the shared credential
	MadeBy      Starter
	ReturnTo    string
	ExpiresAt   time.Time
}

// ConnectLink is a stored link.
type ConnectLink struct {
	NewConnectLink
	Tenant    connectors.TenantID
	CreatedAt time.Time
}

// GrantMeta is what a refresh needs besides the token. It holds no secret. The JSON names are stored: they never change.
type GrantMeta struct {
	Server        oauth.Metadata `json:"server"`
	ClientID      string         `json:"client_id"`
	RedirectURI   string         `json:"redirect_uri,omitempty"` // with the issuer it names the registration
	Resource      string         `json:"resource,omitempty"`     // empty: none is sent
	ExpiryAssumed bool           `json:"expiry_assumed,omitempty"`
	Source        oauth.Source   `json:"source,omitempty"` // where the client id comes from

	Refreshable      bool       `json:"refreshable,omitempty"`        // there is a refresh token, or a machine's secret
	RefreshExpiresAt *time.Time `json:"refresh_expires_at,omitempty"` // when that ends; nil: not said
	LostAnswer       bool       `json:"lost_answer,omitempty"`        // the last refresh left, and what came of it is not known

	WantedScopes []string `json:"wanted_scopes,omitempty"` // what the resource said is missing, with what was granted
	StepUps      int      `json:"step_ups,omitempty"`      // how often it said so
}

// GrantTokens are what an authorization server gave, at first or by a refresh.
type GrantTokens struct {
	AccessToken  secret.Text
	RefreshToken secret.Text // empty: none
	ExpiresAt    *time.Time
	Scopes       []string
	Meta         GrantMeta
	Machine      connectors.Secret // of client_credentials and private_key_jwt: what the client proves itself with
}

// NewGrant is a grant to be stored; it replaces the credential that the same agent has for the same connector.
type NewGrant struct {
	GrantTokens
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID // nil: the shared one
	Origin      string              // that it is given for: connectors.Origin of the URL that the flow began with
	Account     string
}

// Grant is a stored grant, opened.
type Grant struct {
	connectors.Credential
	Tokens  GrantTokens
	RetryAt *time.Time // no refresh before; nil: at any time
}

// Lease is the right to refresh one version of one grant.
type Lease struct {
	ID         uuid.UUID
	Credential connectors.CredentialID
	Version    int
	Lost       bool // what came of the request before is not known: its answer was lost, or its process died
}

// ExpiringCredential is an account whose access ends unless a person connects it again.
type ExpiringCredential struct {
	ConnectorSlug string
	ConnectorName string
	AgentSlug     string // empty: the shared one
	AgentName     string
	EndsAt        time.Time
}

// Delay is why and for how long nobody refreshes a grant.
type Delay struct {
	Because string // a sentence
	Wait    time.Duration
	Lost    bool // the request left, and whether it had an effect is not known
}
