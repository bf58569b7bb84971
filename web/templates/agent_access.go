package templates

// AgentAccessPage lists the connectors granted to an agent, and those that could be.
type AgentAccessPage struct {
	Frame  Frame
	Head   AgentHead
	Grants []GrantRow
	Files  Pager      // of Grants
	Query  string     // filters Others
	Others []GrantRow // connectors without a grant
	Count  string     // of Others
	Pager  Pager
}

// GrantRow is one connector with an agent's grant.
type GrantRow struct {
	Connector string
	Mark      Mark
	Href      string // the grant's page
	State     State  // the connector's
	Tools     string // "All 23 tools", "3 of 23 tools"; without a grant "23 tools"
	Items     string // "Prompts, resources"; empty: none
	Tokens    string // estimated size of the tools in a request; empty without a grant
	Approval  string // "Ask every time"; empty without a grant
}
