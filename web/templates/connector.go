package templates

// ConnectorTab names a tab of the connector's page.
type ConnectorTab string

// The tabs of the connector's page.
const (
	TabOverview    ConnectorTab = "overview"
	TabTools       ConnectorTab = "tools"
	TabOperations  ConnectorTab = "operations"
	TabPrompts     ConnectorTab = "prompts"
	TabResources   ConnectorTab = "resources"
	TabCredentials ConnectorTab = "credentials"
	TabAccess      ConnectorTab = "access"
	TabCalls       ConnectorTab = "calls"
	TabChanges     ConnectorTab = "changes"
	TabSettings    ConnectorTab = "settings"
)

// ConnectorHead is the head above a connector's tabs.
type ConnectorHead struct {
	ID          string // the UUID
	Slug        string
	Name        string
	Mark        Mark
	Description string
	URL         string
	URLUnicode  string // the URL with its host in Unicode; empty: it is the same
	Href        string // "/connectors/linear", the parent path of the tabs
	Tab         ConnectorTab
	State       State
	Cancel      string // where the running sync is cancelled; empty: there is none
	Enabled     bool   // false: it cannot be synced
	ToolCount   string
	IsAPI       bool // an HTTP API: it has operations, and no prompts and resources
}

// ConnectorOverviewPage is a connector's overview.
type ConnectorOverviewPage struct {
	Frame        Frame
	Head         ConnectorHead
	Attention    []Attention // the last error, a missing credential, quarantined tools
	Stats        []Stat      // tools, last sync, …
	Health       []HealthLine
	Charts       *Charts     // nil: no recent sync
	Server       []Fact      // the server's description of itself; empty: never synced
	Connection   []Fact      // transport, authentication, credential, interval, timeout …
	Instructions string      // the server's text; empty: none
	Review       string      // that agents get another text, and why; empty: they get this one
	Method       *MethodForm // nil: the connector allows no methods outside MCP, or the viewer may not send them
	Runs         []SyncRunRow
}

// MethodForm sends method, params (a JSON object, or empty) and, with PerAgent, agent (a slug) to Action.
type MethodForm struct {
	Action   string
	Allowed  []string // names, and prefixes as acme/*
	PerAgent bool     // each agent has a credential of its own
	Form     Form
}

// ConnectorMethodPage shows what came of a method outside MCP, and the form.
type ConnectorMethodPage struct {
	Frame  Frame
	Head   ConnectorHead
	Form   MethodForm
	Result *Result // nil: nothing was sent
	Said   Quote
}

// ConnectorAccessPage lists agents with their access to a connector. The form of the selection sends agent (repeated), do
// ("grant" or "remove") and return_to to the page's address.
type ConnectorAccessPage struct {
	Frame    Frame
	Head     ConnectorHead
	Filter   Form // q and access
	Kinds    []Option
	Filtered bool
	Rows     []AgentReachRow
	ReturnTo string
	All      bool   // all rows are selected
	AllHref  string // the page with all rows selected, or none
	Count    string
	Pager    Pager
}

// AgentReachRow is an agent with its access to the connector.
type AgentReachRow struct {
	Name     string
	Slug     string
	Initial  string
	Href     string // the grant's page
	State    State  // the agent's
	Tools    string // "All 23 tools", "3 of 23 tools", "No access"
	Approval string // empty without access
}

// ConnectorCallsPage lists the calls of a connector's tools.
type ConnectorCallsPage struct {
	Frame    Frame
	Head     ConnectorHead
	Filter   Form // as of CallsPage
	Ranges   []Option
	Statuses []Option
	List     CallList
	AllHref  string // the list of all connectors' calls, filtered
}

// ConnectorChangesPage lists the changes of a connector's tools.
type ConnectorChangesPage struct {
	Frame Frame
	Head  ConnectorHead
	List  ChangeList
}

// ConnectorRunsPage lists the sync runs.
type ConnectorRunsPage struct {
	Frame Frame
	Head  ConnectorHead
	Rows  []SyncRunRow
	Pager Pager
}

// SyncRunRow is one sync run.
type SyncRunRow struct {
	ID          string
	Href        string // of its requests
	Trigger     string // "Manual"
	Agent       string // owner of the used credential; empty: the shared one or none
	State       State
	Started     When
	Duration    string // "1.2 s"; empty: not finished
	Total       string // "23 tools"; empty: not known
	Added       int
	Changed     int
	Removed     int
	Quarantined int
	Items       string   // "3 prompts, 5 resources"; empty: not known
	ItemChanges []string // "Prompts: 1 added"; empty: none
	Protocol    string
	Error       string // one sentence; empty: none
	CancelledBy string // name; empty: not cancelled
}

func (r SyncRunRow) isUnchanged() bool {
	return r.State.Kind == StateOK && r.Added+r.Changed+r.Removed+r.Quarantined+len(r.ItemChanges) == 0
}

// cancelPath is where a person cancels the running sync; empty: there is none, or they may not.
func (h ConnectorHead) cancelPath(can Permissions) string {
	if !can.Sync {
		return ""
	}
	return h.Cancel
}

// syncVariant keeps the one filled button of a page for its form, if it has one.
func (h ConnectorHead) syncVariant() string {
	if h.Tab == TabSettings || h.Tab == TabCredentials || h.Tab == TabOperations {
		return "outline"
	}
	return "primary"
}

// hasItemsBar reports whether the tab is about what the server offers.
func (h ConnectorHead) hasItemsBar() bool {
	return !h.IsAPI && h.Tab == TabTools || h.Tab == TabPrompts || h.Tab == TabResources
}
