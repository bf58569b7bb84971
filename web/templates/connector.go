package templates

// ConnectorTab names a tab of the connector's page.
type ConnectorTab string

// The tabs.
const (
	TabOverview    ConnectorTab = "overview"
	TabTools       ConnectorTab = "tools"
	TabCredentials ConnectorTab = "credentials"
	TabRuns        ConnectorTab = "runs"
	TabSettings    ConnectorTab = "settings"
)

// ConnectorHead stands above all tabs of a connector.
type ConnectorHead struct {
	ID          string // the UUID
	Slug        string
	Name        string
	Initial     string
	Description string
	URL         string
	URLUnicode  string // the URL with its host name in Unicode; empty: it has no other form
	Href        string // "/connectors/linear"; the tabs are below it
	Tab         ConnectorTab
	State       State
	Enabled     bool // no: it cannot be synced
	ToolCount   string
}

// ConnectorOverviewPage says how a connector is.
type ConnectorOverviewPage struct {
	Frame        Frame
	Head         ConnectorHead
	Attention    []Attention // what needs someone: the last error, a missing credential, quarantined tools
	Stats        []Stat      // tools, last sync, …
	Health       []HealthLine
	Charts       *Charts // nil: there was no sync lately
	Server       []Fact  // what the server says of itself; empty: never synced
	Connection   []Fact  // transport, authentication, credential, interval, timeout …
	Instructions string  // the server's text; empty: none
	Review       string  // that agents are given another text, and why; empty: they are given this one
	Runs         []SyncRunRow
}

// ConnectorRunsPage lists the attempts to read the tools.
type ConnectorRunsPage struct {
	Frame Frame
	Head  ConnectorHead
	Rows  []SyncRunRow
	Pager Pager
}

// SyncRunRow is one attempt.
type SyncRunRow struct {
	ID          string
	Href        string // its requests
	Trigger     string // "Manual"
	Agent       string // whose credential was used; empty: the shared one or none
	State       State
	Started     When
	Duration    string // "1.2 s"; empty: not finished
	Total       string // "23 tools"; empty: not known
	Added       int
	Changed     int
	Removed     int
	Quarantined int
	Protocol    string
	Error       string // one sentence; empty: none
}

func (r SyncRunRow) unchanged() bool {
	return r.State.Kind == StateOK && r.Added+r.Changed+r.Removed+r.Quarantined == 0
}

// syncVariant leaves the one filled button of a page to its form, where it has one.
func (h ConnectorHead) syncVariant() string {
	if h.Tab == TabSettings || h.Tab == TabCredentials {
		return "outline"
	}
	return "primary"
}
