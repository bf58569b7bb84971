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

// Agent is a program that uses tools.
type Agent struct {
	ID          AgentID
	Slug        string
	Name        string
	Description string
	Approval    ApprovalMode
	Enabled     bool
	CreatedAt   time.Time
	UpdatedAt   time.Time
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
	return a
}

// Validate tells what is wrong with a normalized agent; nothing where it is right.
func (a Agent) Validate() []fault.Field {
	var c check
	c.name(a.Name)
	c.slug(a.Slug)
	c.description(a.Description)
	oneOf(&c, "approval", a.Approval, ApprovalAuto, ApprovalAlwaysAsk, ApprovalTrustedOnly)
	return c.fields
}
