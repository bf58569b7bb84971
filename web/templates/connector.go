package templates

// ConnectorTab names a tab of the connector's page.
type ConnectorTab string

// The tabs of the connector's page.
const (
	TabOverview    ConnectorTab = "overview"
	TabTools       ConnectorTab = "tools"
	TabPrompts     ConnectorTab = "prompts"
	TabResources   ConnectorTab = "resources"
	TabCredentials ConnectorTab = "credentials"
	TabRuns        ConnectorTab = "runs"
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
	Enabled     bool // false: it cannot be synced
	ToolCount   string
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
}

func (r SyncRunRow) isUnchanged() bool {
	return r.State.Kind == StateOK && r.Added+r.Changed+r.Removed+r.Quarantined+len(r.ItemChanges) == 0
}

// syncVariant keeps the one filled button of a page for its form, if it has one.
func (h ConnectorHead) syncVariant() string {
	if h.Tab == TabSettings || h.Tab == TabCredentials {
		return "outline"
	}
	return "primary"
}
