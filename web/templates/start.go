package templates

// FirstSteps is the checklist of the home page, until an agent reached the gateway. The zero value is no checklist.
type FirstSteps struct {
	Asset Assets
	Count string // "1 of 4 done"
	Steps []FirstStep
}

// FirstStep is one step of the checklist. The first that is not done is the next.
type FirstStep struct {
	Title   string
	Text    string
	Done    bool
	Next    bool
	Actions []Link // of the next step; the first is the button
}

// AgentSetup is a form that makes an agent with access and a token. It posts name, approval and connector to
// /start/agent.
type AgentSetup struct {
	Form      Form
	Approvals []Option
	Choices   []SetupChoice // connectors
	Fixed     bool          // the only connector is no choice
}

// SetupChoice is a connector that the new agent may use.
type SetupChoice struct {
	Slug   string
	Name   string
	Tools  string // "12 tools"
	Mark   Mark
	Chosen bool
}

// AgentSetupPage has that form alone.
type AgentSetupPage struct {
	Frame Frame
	Setup AgentSetup
}

// AgentReadyPage shows a new agent's token once, with the configurations of clients.
type AgentReadyPage struct {
	Frame    Frame
	Name     string
	Href     string // of the agent
	Token    NewAPIKey
	Snippets []Snippet
}

// ConnectorStartPage follows a connector's addition: its first sync, its tools, and the next step. It asks for itself
// while the sync runs.
type ConnectorStartPage struct {
	Frame   Frame
	Name    string
	Href    string
	Mark    Mark
	Line    string // "12 tools"
	Syncing bool
	Problem *Attention // why the sync failed; nil: it did not
	Tools   []ToolView
	More    string // "All 40 tools"; empty: all are shown
	Setup   AgentSetup
	Agents  []Link // agents that may get access instead
}
