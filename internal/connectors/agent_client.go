package connectors

import "time"

// ClientScope limits a program that acts as a member.
type ClientScope string

// The scopes.
const (
	ScopeAdminRead ClientScope = "admin:read" // read
	ScopeAdmin     ClientScope = "admin"      // all of it
)

// Valid reports whether s is one of the scopes.
func (s ClientScope) Valid() bool { return s == ScopeAdminRead || s == ScopeAdmin }

// Limit returns the role that a member's program of this scope has. Reading includes what an auditor may read,
// if the member may too.
func (s ClientScope) Limit(role Role) Role {
	switch {
	case s == ScopeAdmin:
		return role
	case s != ScopeAdminRead:
		return ""
	case role.May(PermAudit) && role.May(PermBodies):
		return RoleAuditor
	case role.May(PermRead):
		return RoleViewer
	default:
		return ""
	}
}

// AgentClient is a program that a person authorized by OAuth to be an agent or to act for them.
type AgentClient struct {
	ID        AgentClientID
	AgentID   *AgentID // nil: it acts for its person
	AgentSlug string
	AgentName string
	UserID    UserID
	Email     string // of the person
	Person    string // the person's name; optional
	ClientID  string
	Name      string      // as the program states, unverified
	Host      string      // host of its client metadata document; empty: unverified
	Resource  string      // the gateway path of its tokens
	Scope     ClientScope // empty: it is an agent
	Redirect  string      // its redirect URI
	CreatedAt time.Time
	UsedAt    time.Time
	ExpiresAt time.Time // unless refreshed
}
