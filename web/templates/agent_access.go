package templates

// AgentAccessPage lists what an agent was granted, and the connectors that it could be.
type AgentAccessPage struct {
	Frame  Frame
	Head   AgentHead
	Grants []GrantRow
	Query  string     // filters Others
	Others []GrantRow // connectors that are not granted
	Count  string     // of Others
	Pager  Pager
}

// GrantRow is one connector, as an agent may use it.
type GrantRow struct {
	Connector string
	Initial   string
	Href      string // the grant's page
	State     State  // the connector's
	Tools     string // "All 23 tools", "3 of 23 tools", "23 tools" where nothing is granted
	Tokens    string // what the tools take of a request, estimated; empty: nothing is granted
	Approval  string // "Ask every time"; empty: nothing is granted
}
