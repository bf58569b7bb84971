package connectors

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// Grant is an agent's permission for a connector's tools.
type Grant struct {
	AgentID     AgentID
	ConnectorID ConnectorID
	AllTools    bool     // future ones too
	Tools       []string // unless AllTools: the upstream's names
	// Approval overrides the agent's mode.
	Approval *ApprovalMode
	// TrustedTools need no approval in mode trusted_only.
	TrustedTools []string
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Includes reports whether a tool is granted, by the upstream's name.
func (g Grant) Includes(tool string) bool { return g.AllTools || slices.Contains(g.Tools, tool) }

const (
	maxGrantedTools = 5000 // of one grant
	maxToolName     = 128  // characters
)

// Normalized removes duplicates, and the names if all tools are granted.
func (g Grant) Normalized() Grant {
	if g.AllTools {
		g.Tools = nil
	}
	g.Tools, g.TrustedTools = sortedSet(g.Tools), sortedSet(g.TrustedTools)
	return g
}

func sortedSet(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// Validate returns the invalid fields of a normalized grant.
func (g Grant) Validate() []fault.Field {
	var c validation
	c.checkToolNames("tools", g.Tools)
	c.checkToolNames("trusted_tools", g.TrustedTools)
	if g.Approval != nil {
		checkOneOf(&c, "approval", *g.Approval, ApprovalAuto, ApprovalAlwaysAsk, ApprovalTrustedOnly)
	}
	return c.fields
}

func (c *validation) checkToolNames(location string, names []string) {
	if len(names) > maxGrantedTools {
		c.addField(location, "A grant names at most %d tools.", maxGrantedTools)
	}
	if slices.ContainsFunc(names, func(n string) bool {
		return n == "" || utf8.RuneCountInString(n) > maxToolName || !utf8.ValidString(n) || strings.ContainsRune(n, 0)
	}) {
		c.addField(location, "A tool's name has 1 to %d characters.", maxToolName)
	}
}

// Asks reports whether a call of a tool needs approval.
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

// AgentToken is an agent's gateway token without its secret.
type AgentToken struct {
	ID         AgentTokenID
	AgentID    AgentID
	Name       string
	Prefix     string // for display
	CreatedAt  time.Time
	ExpiresAt  *time.Time // nil: never
	LastUsedAt *time.Time
}

// Validate returns the invalid fields. The name is optional.
func (t AgentToken) Validate() []fault.Field {
	var c validation
	if t.Name != "" {
		c.name(t.Name)
	}
	return c.fields
}
