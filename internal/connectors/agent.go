package connectors

import (
	"strings"
	"time"

	"patchbay/internal/fault"
)

// ApprovalMode selects the requests of an agent that need approval.
type ApprovalMode string

// The approval modes.
const (
	ApprovalAuto        ApprovalMode = "auto"
	ApprovalAlwaysAsk   ApprovalMode = "always_ask"
	ApprovalTrustedOnly ApprovalMode = "trusted_only"
	// ApprovalAskAll is ApprovalAlwaysAsk, for the use of prompts and resources too.
	ApprovalAskAll ApprovalMode = "always_ask_all"
)

// ToolList selects what the agent's tools/list contains.
type ToolList string

// The tool lists.
const (
	ToolListFull ToolList = "full"
	ToolListLean ToolList = "lean" // the pinned tools, and tools that find and call the others
	ToolListAuto ToolList = "auto" // lean if the full list has more than [MaxFullListTokens]
)

const (
	// MaxFullListTokens is the largest estimated full list of ToolListAuto.
	MaxFullListTokens = 10_000
	// MaxPinnedTools bounds the pinned tools of an agent.
	MaxPinnedTools = 50
	// MaxNameLimit bounds Agent.NameLimit.
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
	// NameLimit bounds the names of tools for the agent: 64 (the strictest provider's) to 128 characters.
	NameLimit int
	// CallsPerMinute bounds its tool calls; 0: no bound of its own.
	CallsPerMinute int
	ToolList       ToolList
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Normalized sets defaults and trims white space.
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
	if a.ToolList == "" {
		a.ToolList = ToolListFull
	}
	return a
}

// Validate returns the invalid fields of a normalized agent.
func (a Agent) Validate() []fault.Field {
	var c validation
	c.name(a.Name)
	c.slug(a.Slug)
	c.checkDescription(a.Description)
	if a.NameLimit < MaxExposedName || a.NameLimit > MaxNameLimit {
		c.addField("name_limit", "Must be %d–%d characters.", MaxExposedName, MaxNameLimit)
	}
	c.checkCallsPerMinute(a.CallsPerMinute)
	checkOneOf(&c, "approval", a.Approval, ApprovalAuto, ApprovalAlwaysAsk, ApprovalTrustedOnly, ApprovalAskAll)
	checkOneOf(&c, "tool_list", a.ToolList, ToolListFull, ToolListLean, ToolListAuto)
	return c.fields
}
