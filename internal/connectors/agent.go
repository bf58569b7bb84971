package connectors

import (
	"strings"
	"time"

	"patchbay/internal/fault"
)

// ApprovalMode says which tool calls of an agent wait for a person.
type ApprovalMode string

// The approval modes.
const (
	ApprovalAuto        ApprovalMode = "auto"
	ApprovalAlwaysAsk   ApprovalMode = "always_ask"
	ApprovalTrustedOnly ApprovalMode = "trusted_only"
)

const (
	// MaxNameLimit is the most that an agent's NameLimit may be.
	MaxNameLimit = 128
	// MaxCallsPerMinute bounds the limits of agents and connectors.
	MaxCallsPerMinute = 1_000_000
)

// Agent is a program that uses tools.
type Agent struct {
	ID          AgentID
	Slug        string
	Name        string
	Description string
	Approval    ApprovalMode
	Enabled     bool
	// NameLimit is how long the names may be under which the agent sees tools: 64, the strictest provider's, to 128 characters.
	NameLimit int
	// CallsPerMinute bounds its tool calls; 0: not for this agent alone.
	CallsPerMinute int
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Normalized fills in what may be left out, and drops white space around what is typed.
func (a Agent) Normalized() Agent {
	a.Name = strings.TrimSpace(a.Name)
	a.Description = strings.TrimSpace(a.Description)
	a.Slug = strings.TrimSpace(a.Slug)
	if a.Slug == "" {
		a.Slug = Slug(a.Name, "agent")
	}
	if a.Approval == "" {
		a.Approval = ApprovalAlwaysAsk
	}
	if a.NameLimit == 0 {
		a.NameLimit = MaxExposedName
	}
	return a
}

// Validate tells what is wrong with a normalized agent; nothing where it is right.
func (a Agent) Validate() []fault.Field {
	var c check
	c.name(a.Name)
	c.slug(a.Slug)
	c.description(a.Description)
	if a.NameLimit < MaxExposedName || a.NameLimit > MaxNameLimit {
		c.refuse("name_limit", "Names of tools have %d to %d characters at most.", MaxExposedName, MaxNameLimit)
	}
	c.callsPerMinute(a.CallsPerMinute)
	oneOf(&c, "approval", a.Approval, ApprovalAuto, ApprovalAlwaysAsk, ApprovalTrustedOnly)
	return c.fields
}
