package templates

// AgentConnectPage says how a program comes to the gateway as this agent. Its form sends name and expires_at (a date, or empty) to
// the agent's address + "/tokens".
type AgentConnectPage struct {
	Frame     Frame
	Head      AgentHead
	Addresses []Fact // of the gateway, and of single connectors
	Tokens    []AgentTokenRow
	Count     string
	Form      Form
	New       *NewAPIKey // the token that was just made; nil: none
	Programs  []SignedInRow
	Snippets  []Snippet
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

// Snippet is what a person gives to an MCP client.
type Snippet struct {
	Client string // "Claude Code"
	Where  string // "Run this in a terminal."
	Text   string
	Open   bool
}
