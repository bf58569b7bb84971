package templates

// AgentConnectPage explains how a program reaches the gateway as this agent. Its form sends name and expires_at
// (a date, or empty) to the agent's address + "/tokens".
type AgentConnectPage struct {
	Frame     Frame
	Head      AgentHead
	Addresses []Fact // of the gateway, and of single connectors
	Tokens    []AgentTokenRow
	Files     Pager // of Tokens
	Count     string
	Form      Form
	New       *NewAPIKey // the new token; nil: none
	Programs  []SignedInRow
	Snippets  []Snippet

	Workloads     []WorkloadRow
	WorkloadForm  Form     // sends name, kind, issuer, subject and keys to the agent's address + "/workloads"
	WorkloadKinds []Option //
	TokenRequest  string   // how the newest workload gets a token
}

// WorkloadRow is one workload. Removing posts to Remove.
type WorkloadRow struct {
	Name     string
	Issuer   string
	Subject  string
	ClientID string
	LastUsed When
	Remove   string
}

// AgentTokenRow is one token. Revoking posts to Revoke.
type AgentTokenRow struct {
	Name     string
	Prefix   string
	State    State
	Created  When
	LastUsed When
	Expires  When
	Revoke   string
}

// Snippet is a configuration for an MCP client.
type Snippet struct {
	Client string // "Claude Code"
	Where  string // "Run in a terminal."
	Text   string
	Open   bool
}
