package connectors

import (
	"slices"
	"strings"
	"time"

	"patchbay/internal/fault"
)

// Bounds of a tenant's registries.
const (
	MaxRegistries     = 20
	MaxRegistryAgents = 100 // of one registry
)

// Registry is a list of connectors that Patchbay publishes to MCP clients, at an address that is a secret. Its
// address is not stored.
type Registry struct {
	ID             RegistryID
	Name           string
	EveryConnector bool     // lists all enabled connectors; Agents is empty
	Agents         []string // slugs; connectors that one of them holds a grant for are listed
	TokenRequired  bool     // clients send an agent's token, and see what that agent may use
	CreatedAt      time.Time
	UpdatedAt      time.Time
	RotatedAt      *time.Time // last change of the address; nil: never
	LastUsedAt     *time.Time // nil: never
}

// Normalized trims the name, and sorts the agents without duplicates.
func (r Registry) Normalized() Registry {
	r.Name = strings.TrimSpace(r.Name)
	r.Agents = slices.Clone(r.Agents)
	for i, slug := range r.Agents {
		r.Agents[i] = strings.TrimSpace(slug)
	}
	slices.Sort(r.Agents)
	r.Agents = slices.Compact(r.Agents)
	if r.EveryConnector {
		r.Agents = nil
	}
	return r
}

// Validate returns the invalid fields. Whether the agents exist is checked elsewhere.
func (r Registry) Validate() []fault.Field {
	fields := nameDefects(r.Name)
	switch n := len(r.Agents); {
	case n == 0 && !r.EveryConnector:
		fields = append(fields, fault.Field{Location: "agents", Message: "Choose at least one agent, or all connectors."})
	case n > MaxRegistryAgents:
		fields = append(fields, fault.Field{Location: "agents", Message: "Choose at most 100 agents."})
	}
	return fields
}

// RegistryEntry is a connector in a registry.
type RegistryEntry struct {
	Slug        string
	Name        string
	Description string
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Definitions []byte // hash of its accepted tool definitions; nil: none is accepted
}
