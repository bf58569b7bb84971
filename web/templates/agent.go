package templates

// AgentsPage lists the agents.
type AgentsPage struct {
	Frame     Frame
	Heads     Heads // name, state, approval, added
	Filter    Form  // q, state, approval and sort
	States    []Option
	Approvals []Option
	Filtered  bool
	Rows      []AgentRow
	Count     string
	Pager     Pager
}

// AgentRow is one agent in the list.
type AgentRow struct {
	Name       string
	Slug       string
	Href       string
	Initial    string
	State      State
	Trouble    string // why it cannot work as it should: "Sentry: no account"; empty: it can
	Approval   string // "Ask every time"
	Connectors string
	Tools      string
	Seen       When
	Calls      string // in 24 hours
	Failed     string // "3 errors"; empty: none
	CallsHref  string
}

// AgentFormPage creates an agent. Its form sends name, slug, description and approval to /agents.
type AgentFormPage struct {
	Frame     Frame
	Form      Form
	Approvals []Option
}

// AgentTab names a tab of the agent's page.
type AgentTab string

// The tabs of the agent's page.
const (
	AgentOverviewTab AgentTab = "overview"
	AgentAccessTab   AgentTab = "access"
	AgentToolsTab    AgentTab = "tools"
	AgentItemsTab    AgentTab = "resources"
	AgentConnectTab  AgentTab = "connect"
	AgentSettingsTab AgentTab = "settings"
)

// AgentHead is the head above an agent's tabs.
type AgentHead struct {
	Slug        string
	Name        string
	Initial     string
	Description string
	Href        string // "/agents/support", the parent path of the tabs
	Tab         AgentTab
	State       State
}

// AgentPage is an agent's overview.
type AgentPage struct {
	Frame       Frame
	Head        AgentHead
	Attention   []Attention
	Stats       []Stat // tools, connectors, approval, last seen
	Facts       []Fact
	Grants      []GrantRow
	Allowances  []AllowanceRow
	Credentials []AgentCredential
	Calls       []CallRow
	CallsHref   string
}

// AllowanceRow is a tool, prompt or resource that the agent may use without approval until a time. Its form sends kind.
type AllowanceRow struct {
	Tool      string // name, or a resource's URI
	ToolHref  string // empty: none
	Connector string // "Linear", "Prompt · Linear"
	Kind      string // "tool", "prompt" or "resource"
	Ends      When
	GrantedBy string
	Suspended string // why it is not in force; empty: it is
	End       string // the action; empty: the viewer may not end it
}

// AgentCredential is the agent's credential for one connector.
type AgentCredential struct {
	Connector string
	Account   string // its name; empty: the agent's only one
	Href      string // the connector's credentials tab
	State     State
}

// AgentSettingsPage changes one agent. Its form sends name, slug, description, approval, tool_list, name_limit and
// calls_per_minute to the agent's address; another sends enabled alone.
type AgentSettingsPage struct {
	Frame     Frame
	Head      AgentHead
	Form      Form
	Approvals []Option
	ToolLists []Option
	Enabled   bool
	Goes      []string // what is deleted with it
}
