package connectors

import "time"

// ClientScope is what a program that acts as a member may do of what the member may.
type ClientScope string

// The scopes.
const (
	ScopeAdminRead ClientScope = "admin:read" // read
	ScopeAdmin     ClientScope = "admin"      // all of it
)

// Valid tells whether s is one of the scopes.
func (s ClientScope) Valid() bool { return s == ScopeAdminRead || s == ScopeAdmin }

// Limit is the role that somebody of a role has through a program of this scope. What changes nothing is what an auditor may and they may too.
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

// AgentClient is a program that somebody let be an agent, or act as themselves, by signing in for it.
type AgentClient struct {
	ID        AgentClientID
	AgentID   *AgentID // nil: it acts as its person
	AgentSlug string
	AgentName string
	UserID    UserID
	Email     string // of the person
	Person    string // the person's name; may be empty
	ClientID  string
	Name      string      // what the program calls itself: nobody has checked it
	Host      string      // whose document says who it is; empty: nobody can tell
	Resource  string      // the path at the gateway that its tokens open
	Scope     ClientScope // of what its person may; empty: it is an agent
	Redirect  string      // where it was answered
	CreatedAt time.Time
	UsedAt    time.Time
	ExpiresAt time.Time // unless it renews its token before
}
