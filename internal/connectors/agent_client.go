package connectors

import "time"

// AgentClient is a program that somebody let be an agent by signing in for it.
type AgentClient struct {
	ID        AgentClientID
	AgentID   AgentID
	AgentSlug string
	AgentName string
	UserID    UserID
	Email     string // of the person
	Person    string // the person's name; may be empty
	ClientID  string
	Name      string // what the program calls itself: nobody has checked it
	Host      string // whose document says who it is; empty: nobody can tell
	Resource  string // the path at the gateway that its tokens open
	Redirect  string // where it was answered
	CreatedAt time.Time
	UsedAt    time.Time
	ExpiresAt time.Time // unless it renews its token before
}
