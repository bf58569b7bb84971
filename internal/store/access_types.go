package store

import (
	"time"

	"patchbay/internal/connectors"
)

// MaxServedBytes bounds the definitions of all tools of an agent, in total: they are in memory at once.
const MaxServedBytes = 32 << 20

// MaxServedSkills and MaxServedSkillBytes bound the skills of an agent and their definitions.
const (
	MaxServedSkills     = 1000
	MaxServedSkillBytes = 8 << 20
)

// NewAgentToken is an agent token to store. The caller makes the id because the token's text contains it.
type NewAgentToken struct {
	ID        connectors.AgentTokenID
	AgentID   connectors.AgentID
	Name      string
	Prefix    string
	SecretMAC []byte
	ExpiresAt *time.Time // nil: never
}

// StoredAgentToken is an agent token with its MAC. The caller checks the expiry in Token.
type StoredAgentToken struct {
	Tenant    connectors.TenantID
	Token     connectors.AgentToken
	SecretMAC []byte
	Resource  string                    // the only gateway path that it opens; empty: all
	Client    *connectors.AgentClientID // the OAuth client that holds it; nil: made by a person, or a workload's
	Workload  *connectors.AgentWorkloadID
	Key       string // thumbprint of the key that it is bound to (RFC 9449); empty: none
}

// GrantedConnector is a grant with the slug and name of its connector.
type GrantedConnector struct {
	connectors.Grant
	Slug    string
	Name    string
	Enabled bool
}

// Access is what decides which tools and items an agent may list and call.
type Access struct {
	Tenant     connectors.Tenant
	Agent      connectors.Agent
	Reaches    []AccessConnector // by Slug, including disabled connectors
	Tools      []AccessTool      // of those connectors, granted or not, by connector and name
	Items      []AccessItem      // of those connectors, by connector and kind, in the server's order
	Skills     []AccessSkill     // of those connectors, by connector and URI
	Allowances []connectors.Allowance
	Now        time.Time // the database's, after the read began; zero: nothing is granted
}

// AccessConnector is a granted connector with one of the accounts of the grant. Its DiscoveredTools is empty: see Access.Tools.
type AccessConnector struct {
	Slug      string           // the connector's; with several accounts its [connectors.ViewSlug]
	Grant     connectors.Grant // of this account alone
	Ended     bool             // by the database's time: all of the grant has ended
	Connector connectors.Connector
	Account   connectors.CredentialID // that the grant binds; zero: none, or it is not stored
}

// AccessTool is a tool of a granted connector.
type AccessTool struct {
	ConnectorID connectors.ConnectorID
	Name        string
	Accepted    *connectors.Hash // nil: no definition accepted yet
	Review      connectors.Review
	Enabled     bool
	Removed     bool
	Alias       string // name for agents; empty: the server's
	AgentText   string // description for agents; empty: the server's
	Tags        []string
	Quota       connectors.Quota
}

// AccessItem is a prompt, a resource or a template of a granted connector.
type AccessItem struct {
	ConnectorID connectors.ConnectorID
	connectors.Item
}

// AccessSkill is a skill that the server of a granted connector lists, or listed.
type AccessSkill struct {
	ConnectorID connectors.ConnectorID
	URI         string
	Accepted    []byte // its accepted definition; nil: none, over the limit, or the server no longer lists it
	OverLimit   bool   // it was accepted, and the agent has too many skills before it
}
