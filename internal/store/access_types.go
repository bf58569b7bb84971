package store

import (
	"time"

	"patchbay/internal/connectors"
)

// MaxServedBytes is how much the definitions of all tools of an agent may have together: they are in memory at once.
const MaxServedBytes = 32 << 20

// NewAgentToken is an agent's token to be stored. The caller makes the id, because it is part of the token's text.
type NewAgentToken struct {
	ID        connectors.AgentTokenID
	AgentID   connectors.AgentID
	Name      string
	Prefix    string
	SecretMAC []byte
	ExpiresAt *time.Time // nil: never
}

// StoredAgentToken is an agent's token with what recognises it. Whether it is expired the caller reads from Token.
type StoredAgentToken struct {
	Tenant    connectors.TenantID
	Token     connectors.AgentToken
	SecretMAC []byte
	Resource  string                    // the only path at the gateway that it opens; empty: each
	Client    *connectors.AgentClientID // the program that signed in, whose access token it is; nil: a person made it
}

// GrantedConnector is a grant with its connector's names.
type GrantedConnector struct {
	connectors.Grant
	Slug    string
	Name    string
	Enabled bool
}

// Access is what an agent may see and call, as the rows have it.
type Access struct {
	Tenant     connectors.Tenant
	Agent      connectors.Agent
	Reaches    []AccessReach // by the connectors' slugs, disabled ones too
	Tools      []AccessTool  // of those connectors, by connector and name, whether granted or not
	Items      []AccessItem  // of those connectors, by connector and kind, in the server's order
	Allowances []connectors.Allowance
}

// AccessReach is a connector that was granted. Its DiscoveredTools are not filled in: Access.Tools has them.
type AccessReach struct {
	Grant     connectors.Grant
	Connector connectors.Connector
}

// AccessTool is a tool of a granted connector.
type AccessTool struct {
	ConnectorID connectors.ConnectorID
	Name        string
	Accepted    *connectors.Hash // nil: nothing was accepted yet
	Review      connectors.Review
	Enabled     bool
	Removed     bool
	Alias       string // the name for agents; empty: the server's
	AgentText   string // the description for agents; empty: the server's
	Quota       connectors.Quota
}

// AccessItem is a prompt, a resource or a template of a granted connector.
type AccessItem struct {
	ConnectorID connectors.ConnectorID
	connectors.Item
}
