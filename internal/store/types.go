package store

import (
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// NewMember is a person to add to a tenant. An existing account keeps its name and password, and gains a
// membership.
type NewMember struct {
	Email        string
	Name         string
	PasswordHash string // argon2id, encoded
	Role         connectors.Role
	OnlyNew      bool // refuse an existing account: its password may be known to others
	Issued       bool // make an account that opens this tenant alone, beside a person's own
}

// NewAPIKey is a key to store. The caller makes the id because the key's text contains it.
type NewAPIKey struct {
	ID        connectors.APIKeyID
	Name      string
	Role      connectors.Role
	Prefix    string
	SecretMAC []byte
	ExpiresAt *time.Time // nil: never
	CreatedBy string     // display name
}

// ConnectorFilter selects connectors.
type ConnectorFilter struct {
	Query  string                     // part of the name, slug or URL; empty: all
	Status connectors.ConnectorStatus // empty: all
	IDs    []connectors.ConnectorID   // empty: all

	Transport connectors.Transport // empty: all
	AuthType  connectors.AuthType  // empty: all
	Tag       string               // empty: all
	Page
}

// Stats counts a tenant's connectors.
type Stats struct {
	Connectors    int
	Tools         int
	NeedAttention int // status error or needs_auth
	ByStatus      map[connectors.ConnectorStatus]int
}

// NewCredential is a credential to store. It replaces the agent's credential of that name for the connector.
type NewCredential struct {
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID // nil: the shared one
	Name        string              // empty: the name of the only account, else the default one
	Type        connectors.AuthType
	Origin      string // connectors.Origin of the URL that the caller saw
	Account     string
	Secret      secret.Text
}

// AgentCredential is an agent's credential at a connector that requires one per agent.
type AgentCredential struct {
	ConnectorSlug string
	ConnectorName string
	Name          string                      // of the account; empty: none
	AuthType      connectors.AuthType         // of the connector
	Status        connectors.CredentialStatus // empty: none
}

// NewRun is a sync run to queue or start.
type NewRun struct {
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID
	Trigger     connectors.SyncTrigger
	AuditEvent  *Event // audit entry of the request; nil: none
}

// SyncStart starts a sync run.
type SyncStart struct {
	NewRun
	Run      *connectors.SyncRunID // queued run to start, with its own NewRun; nil: a new run
	Instance connectors.InstanceID // process that runs it
}

// ServerObservation is what a sync learned about the server.
type ServerObservation struct {
	Server        connectors.Server
	Capabilities  []byte                   // as JSON; nil: none
	AuthBehaviour connectors.AuthBehaviour // empty: unknown
	Era           string                   // empty: unknown
	KnownFor      time.Duration            // how long the server information is valid; 0: as known before
	Total         int                      // well-formed tools
	Quarantined   int
	Items         *connectors.ItemCounts // nil: not known
}

// SyncResult is what a sync found, and the differences.
type SyncResult struct {
	ServerObservation
	ListHash    connectors.Hash // of the whole list, including quarantined entries
	Diff        connectors.ToolDiff
	Definitions []connectors.Definition // at least those that the diff refers to; known ones are skipped
	Quarantined []connectors.Quarantined
}

// ToolFilter selects tools.
type ToolFilter struct {
	Connector *connectors.ConnectorID    // nil: all
	Query     string                     // words, or a regular expression between slashes; empty: all
	Removed   bool                       // include removed tools
	Tag       string                     // empty: any
	State     connectors.ToolStateFilter // empty: any
	Hint      connectors.Hint            // hint that is true; empty: any
	Page
}

// Event is an audit entry to record.
type Event struct {
	ActorType string // "person", "key" or "system"
	ActorID   *uuid.UUID
	ActorName string
	Action    string // "connector.create"
	Target    string
	Detail    map[string]any // never a secret
	Before    State          // of the object; nil: did not exist, or no change
	After     State          // of the object; nil: does not exist, or no change
	RequestID string
	IP        string
	Via       string // entry point of the request, if another one performs it: "mcp"; stored in the detail

	Program *ActingClient // OAuth client that acts for the person; nil: none. Stored in the detail
}

// ActingClient is an OAuth client that acts as a person.
type ActingClient struct {
	ID   connectors.AgentClientID
	Name string // self-chosen and unverified
	Host string // host of its metadata document; empty: unknown
}

// User is an account with what sign-in needs.
type User struct {
	ID           connectors.UserID
	Email        string
	Name         string
	PasswordHash secret.Text // empty: no sign-in by password

	PasswordSetAt time.Time // when the person chose that password
	SecondFactor  bool      // a second factor is required besides the password

	IssuedBy  *connectors.TenantID // the tenant that issued the account, which opens that tenant alone; nil: the person's own
	CreatedAt time.Time
}

// Membership is a person's role in a tenant.
type Membership struct {
	Tenant        connectors.Tenant
	Role          connectors.Role
	Email         string
	Name          string
	PasswordSetAt time.Time // when the person last chose a password
	SSO           bool      // the tenant uses single sign-on
	SSOOnly       bool      // opens by single sign-on only
	SecondFactor  bool      // the person has one
	Issued        bool      // the tenant issued the account
}

// StoredKey is an API key with its MAC. The caller checks revocation and expiry in Key.
type StoredKey struct {
	Tenant    connectors.Tenant
	Key       connectors.APIKey
	SecretMAC []byte
}
