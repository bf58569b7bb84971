package templates

// AgentsPage lists the agents.
type AgentsPage struct {
	Frame Frame
	Rows  []AgentRow
	Count string
	Pager Pager
}

// AgentRow is one agent in the list.
type AgentRow struct {
	Name        string
	Slug        string
	Href        string
	Initial     string
	Description string
	State       State
	Created     When
}

// AgentFormPage adds an agent. Its form sends name, slug and description to /agents.
type AgentFormPage struct {
	Frame Frame
	Form  Form
}

// AgentPage shows and changes one agent. Its form sends name, slug, description and enabled ("true" or absent) to Href.
type AgentPage struct {
	Frame       Frame
	Name        string
	Href        string
	State       State
	Facts       []Fact
	Form        Form
	Credentials []AgentCredential
	Goes        []string // what a deletion takes with it
}

// AgentCredential is the agent's credential at one connector.
type AgentCredential struct {
	Connector string
	Href      string // the connector's credentials tab
	State     State
}
