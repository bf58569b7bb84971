package store

import (
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// NewMember is a person to be added to a tenant, with an account of their own. Where the person has one already only a membership is
// made: the account's name and password stay.
type NewMember struct {
	Email        string
	Name         string
	PasswordHash string // as argon2id writes it
	Role         connectors.Role
	OnlyNew      bool // refuse a person who has an account of their own: its password may be known to others
	Issued       bool // make an account that opens this tenant alone, and leave a person's own account as it is
}

// NewAPIKey is a key to be stored. The caller makes the id, because it is part of the key's text.
type NewAPIKey struct {
	ID        connectors.APIKeyID
	Name      string
	Role      connectors.Role
	Prefix    string
	SecretMAC []byte
	ExpiresAt *time.Time // nil: never
	CreatedBy string     // for people
}

// ConnectorFilter chooses connectors.
type ConnectorFilter struct {
	Query  string                     // part of the name, slug or URL; empty: all
	Status connectors.ConnectorStatus // empty: all
	IDs    []connectors.ConnectorID   // empty: all
	Page
}

// Stats counts a tenant's connectors.
type Stats struct {
	Connectors    int
	Tools         int
	NeedAttention int // status error or needs_auth
	ByStatus      map[connectors.ConnectorStatus]int
}

// NewCredential is a credential to be stored; it replaces the one that the same agent has for the same connector.
type NewCredential struct {
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID // nil: the shared one
	Type        connectors.AuthType
	Origin      string // that it is given for: connectors.Origin of the URL that the caller saw
	Account     string
	Secret      secret.Text
}

// AgentCredential says whether an agent has a credential at a connector that wants one per agent.
type AgentCredential struct {
	ConnectorSlug string
	ConnectorName string
	AuthType      connectors.AuthType         // of the connector
	Status        connectors.CredentialStatus // empty: there is none
}

// NewRun is a sync run to be queued or started.
type NewRun struct {
	ConnectorID connectors.ConnectorID
	AgentID     *connectors.AgentID
	Trigger     connectors.SyncTrigger
	Asked       *Event // the audit log's entry of whoever asked for it; nil: nobody did
}

// StartSync asks for a sync run to begin.
type StartSync struct {
	NewRun
	Run      *connectors.SyncRunID // a queued one to begin, whose NewRun counts; nil: a new one
	Instance connectors.InstanceID // the process that runs it
}

// Seen is what a sync saw of the server, whether or not it changed.
type Seen struct {
	Server        connectors.Server
	Capabilities  []byte                   // that the server named, as JSON; nil: none
	AuthBehaviour connectors.AuthBehaviour // empty: not seen
	Era           string                   // empty: not seen
	KnownFor      time.Duration            // the server need not be asked again what it is; 0: for as long as was known
	Total         int                      // well-formed tools
	Quarantined   int
}

// SyncResult is what a sync found and what of it differs.
type SyncResult struct {
	Seen
	ListHash    connectors.Hash // of the whole list, the quarantined entries included
	Diff        connectors.ToolDiff
	Definitions []connectors.Definition // at least those that the diff names; known ones are not written again
	Quarantined []connectors.Quarantined
}

// ToolFilter chooses tools.
type ToolFilter struct {
	Connector *connectors.ConnectorID // nil: of all connectors
	Query     string                  // words, as a person types them; empty: all
	Removed   bool                    // removed tools, too
	Tag       string                  // empty: any
	State     connectors.ToolStanding // empty: any
	Hint      connectors.Hint         // that the server gives as true; empty: any
	Page
}

// Event is an entry of the audit log.
type Event struct {
	ActorType string // "person", "key" or "system"
	ActorID   *uuid.UUID
	ActorName string
	Action    string // "connector.create"
	Target    string
	Detail    map[string]any // never a secret
	Before    State          // of what the act is about; nil: there was none, or it changes nothing
	After     State          // likewise
	RequestID string
	IP        string
	Via       string // the door, where it is not the one that performs the act: "mcp"; it stands in the detail

	Program *Program // that acts as the person who does it; nil: none. It stands in the detail
}

// Program is a program that acts as a person.
type Program struct {
	ID   connectors.AgentClientID
	Name string // what it calls itself: nobody has checked it
	Host string // whose document says so; empty: nobody can tell
}

// User is a person, with what signing in needs.
type User struct {
	ID           connectors.UserID
	Email        string
	Name         string
	PasswordHash secret.Text // empty: cannot sign in by password

	PasswordSetAt time.Time // when the person chose the password of that hash
	SecondFactor  bool      // the password is half of a sign-in

	IssuedBy  *connectors.TenantID // the tenant that made the account, and that alone it opens; nil: the person made it
	CreatedAt time.Time
}

// Membership is a person's role in a tenant.
type Membership struct {
	Tenant        connectors.Tenant
	Role          connectors.Role
	Email         string
	Name          string
	PasswordSetAt time.Time // when the person last chose a password
	SSO           bool      // the tenant has single sign-on turned on
	SSOOnly       bool      // it opens by single sign-on alone
	SecondFactor  bool      // the person has one
	Issued        bool      // the tenant made the account, which opens this tenant alone
}

// StoredKey is an API key with what recognises it. Whether it is revoked or expired the caller reads from Key.
type StoredKey struct {
	Tenant    connectors.Tenant
	Key       connectors.APIKey
	SecretMAC []byte
}
