package connectors

import "time"

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
