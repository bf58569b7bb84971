package connectors

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/fault"
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

const (
	maxGrantedTools = 5000 // that a grant may name
	maxToolName     = 128  // characters
)

// Normalized says each tool once, and nothing of tools where all are granted.
func (g Grant) Normalized() Grant {
	if g.AllTools {
		g.Tools = nil
	}
	g.Tools, g.TrustedTools = sortedSet(g.Tools), sortedSet(g.TrustedTools)
	return g
}

func sortedSet(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// Validate tells what is wrong with a normalized grant; nothing where it is right.
func (g Grant) Validate() []fault.Field {
	var c check
	c.toolNames("tools", g.Tools)
	c.toolNames("trusted_tools", g.TrustedTools)
	if g.Approval != nil {
		oneOf(&c, "approval", *g.Approval, ApprovalAuto, ApprovalAlwaysAsk, ApprovalTrustedOnly)
	}
	return c.fields
}

func (c *check) toolNames(location string, names []string) {
	if len(names) > maxGrantedTools {
		c.refuse(location, "A grant names at most %d tools.", maxGrantedTools)
	}
	if slices.ContainsFunc(names, func(n string) bool {
		return n == "" || utf8.RuneCountInString(n) > maxToolName || !utf8.ValidString(n) || strings.ContainsRune(n, 0)
	}) {
		c.refuse(location, "A tool's name has 1 to %d characters.", maxToolName)
	}
}

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

// Validate tells what is wrong with the name of a token, which may be left out.
func (t AgentToken) Validate() []fault.Field {
	var c check
	if t.Name != "" {
		c.name(t.Name)
	}
	return c.fields
}
