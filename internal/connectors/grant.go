package connectors

import (
	"slices"
	"time"
)

// Grant is what an agent may use of a connector.
type Grant struct {
	AgentID     AgentID
	ConnectorID ConnectorID
	AllTools    bool     // those of later syncs, too
	Tools       []string // where not AllTools: the upstream's names
	// Approval, where set, stands in place of the agent's.
	Approval *ApprovalMode
	// TrustedTools ask nobody where the mode is trusted_only.
	TrustedTools []string
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Includes tells whether a tool was granted, by the upstream's name.
func (g Grant) Includes(tool string) bool { return g.AllTools || slices.Contains(g.Tools, tool) }

// Asks tells whether a call of a tool waits for a person.
func (g Grant) Asks(agent ApprovalMode, tool string) bool {
	mode := agent
	if g.Approval != nil {
		mode = *g.Approval
	}
	switch mode {
	case ApprovalAuto:
		return false
	case ApprovalTrustedOnly:
		return !slices.Contains(g.TrustedTools, tool)
	default:
		return true
	}
}

// AgentToken is what is known of a token with which an agent comes to the gateway.
type AgentToken struct {
	ID         AgentTokenID
	AgentID    AgentID
	Name       string
	Prefix     string // what may be shown of it
	CreatedAt  time.Time
	ExpiresAt  *time.Time // nil: never
	LastUsedAt *time.Time
}
