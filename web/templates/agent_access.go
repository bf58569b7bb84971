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
	Approval  string // "Ask every time"; empty: nothing is granted
}

// GrantPage chooses what an agent may use of one connector. Its form sends all ("true" or "false"), tool (a name, as often as
// wanted), trusted (likewise), and approval ("": as the agent's) to Action.
type GrantPage struct {
	Frame      Frame
	Head       AgentHead
	Connector  string
	ToolsHref  string // the connector's tools
	Action     string
	Granted    bool
	Form       Form
	Approvals  []Option
	TrustsHere bool // the agent's own rule is to ask but for trusted tools
	Tools      []GrantTool
	Count      string // "3 of 23 chosen"
	More       string // says that the list is cut; empty: it is whole
	Goes       []string
}

// GrantTool is one tool to choose.
type GrantTool struct {
	Name     string
	Shown    string // the name, fit for a page
	Title    string
	About    string // a line of its description
	Badges   []Badge
	Granted  bool
	Trusted  bool
	ReadOnly bool
}
