package store

import (
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
)

// Starter is the actor that began a flow which another request finishes. Its JSON names are stored: they never
// change.
type Starter struct {
	Type string     `json:"type"` // as in an Event
	ID   *uuid.UUID `json:"id,omitempty"`
	Name string     `json:"name"`
}

// NewFlow is an authorization to store before a person is redirected. It lives ten minutes.
type NewFlow struct {
	StateHash   []byte // SHA-256
	BrowserHash []byte // of the browser binding
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID      // nil: the shared credential
	Account     string                   // name of the account; empty: the owner's only one
	AccountID   *connectors.CredentialID // the account that may be replaced; nil: none
	StartedBy   Starter
	Origin      string // of the connector's URL at the start: the grant is bound to it
	Server      oauth.Metadata
	ClientID    string
	Resource    string // empty: not sent
	Scopes      []string
	RedirectURI string
	ReturnTo    string
	Replaces    bool // another account than the stored one is accepted
	Verifier    secret.Text
}

// Flow is a pending authorization, deleted from the store. [Vault.Verifier] opens its verifier.
type Flow struct {
	NewFlow   // without the verifier
	ID        uuid.UUID
	Tenant    connectors.TenantID
	CreatedAt time.Time
	ExpiresAt time.Time

	sealed []byte
}

// NewConnectLink is a link for the person that owns an account.
type NewConnectLink struct {
	TokenHash   []byte // SHA-256
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID      // nil: the shared credential
	Account     string                   // name of the account; empty: the owner's only one
	AccountID   *connectors.CredentialID // the account that may be replaced; nil: none
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

// GrantMeta is what a refresh needs besides the token. It holds no secret. Its JSON names are stored: they
// never change.
type GrantMeta struct {
	Server        oauth.Metadata `json:"server"`
	ClientID      string         `json:"client_id"`
	RedirectURI   string         `json:"redirect_uri,omitempty"` // with the issuer, the key of the registration
	Resource      string         `json:"resource,omitempty"`     // empty: not sent
	ExpiryAssumed bool           `json:"expiry_assumed,omitempty"`
	Source        oauth.Source   `json:"source,omitempty"` // source of the client id

	Refreshable      bool       `json:"refreshable,omitempty"`        // has a refresh token or a machine secret
	RefreshExpiresAt *time.Time `json:"refresh_expires_at,omitempty"` // expiry of that; nil: unknown
	LostAnswer       bool       `json:"lost_answer,omitempty"`        // the last refresh was sent, and its result is unknown

	Identity connectors.Identity `json:"identity,omitzero"` // of the account; zero: unknown

	Exchange connectors.TokenExchange `json:"exchange,omitempty"` // tokens come from token exchange; empty: they do not

	WantedScopes []string `json:"wanted_scopes,omitempty"` // scopes that the resource reported as missing, with the granted ones
	StepUps      int      `json:"step_ups,omitempty"`      // how often
}

// GrantTokens are the tokens of an authorization server, from an exchange or a refresh.
type GrantTokens struct {
	AccessToken  secret.Text
	RefreshToken secret.Text // empty: none
	ProofKey     secret.Text // to which they are bound, of oauth.ProofKey.Encode; empty: to none
	Bound        bool        // the access token is sent with a proof of that key
	ExpiresAt    *time.Time
	Scopes       []string
	Meta         GrantMeta
	Machine      connectors.Secret // client authentication of client_credentials and private_key_jwt
}

// NewGrant is a grant to store. It replaces the agent's credential for the connector.
type NewGrant struct {
	GrantTokens
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID // nil: the shared one
	Name        string              // empty: the name of the only account, else the default one
	Origin      string              // connectors.Origin of the URL at the start of the flow
	Account     string
	Replaces    bool // it may be of another account than the one before: the credential gets a new id
}

// Grant is a stored grant, opened.
type Grant struct {
	connectors.Credential
	Tokens  GrantTokens
	RetryAt *time.Time // earliest next refresh; nil: any time
	// RefreshError is why the refresh that was just tried failed; nil: none was, or by another process. It is not stored.
	RefreshError error
}

// Lease is the right to refresh one version of one grant.
type Lease struct {
	ID         uuid.UUID
	Credential connectors.CredentialID
	Version    int
	Lost       bool // the previous request's result is unknown: a lost response, or a dead process
}

// ExpiringCredential is an account that expires unless a person connects it again.
type ExpiringCredential struct {
	ConnectorSlug string
	ConnectorName string
	AgentSlug     string // empty: the shared one
	AgentName     string
	Name          string // of the account
	EndsAt        time.Time
}

// Delay is a pause before the next refresh of a grant, and why.
type Delay struct {
	Because string // a sentence
	Wait    time.Duration
	Lost    bool                 // the request was sent, and its effect is unknown
	Said    *connectors.Upstream // what the server said; nil: nothing
}
