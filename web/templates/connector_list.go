package templates

// ConnectorsPage lists the connectors.
type ConnectorsPage struct {
	Frame    Frame
	Stats    []Stat // four figures
	Heads    Heads  // name, status, tools, synced
	Sort     string // what the address says of the order
	Query    string
	Status   string   // the chosen value of Statuses
	Statuses []Option // with "" for all
	Filtered bool     // Query or Status is set
	Lapsing  *Lapsing // nil: no account ends soon
	Sweep    *Sweep   // nil: no sync of all connectors goes on, and none ended a moment ago
	Rows     []ConnectorRow
	Count    string // "7 connectors"
	Pager    Pager
}

// ConnectorRow is one connector in the list.
type ConnectorRow struct {
	ID         string // the UUID; the row's element is "connector-" + ID
	Name       string
	Href       string // "/connectors/linear"
	Whole      string // name and address, where the row may cut them; empty: it shows them whole
	Initial    string // one letter
	URL        string
	URLUnicode string // as of ConnectorHead
	State      State
	Reason     string  // one sentence under the state; empty: none
	Mend       *Link   // the way to mend the state, beside its word; nil: none
	Remarks    []Badge // what the state does not tell: "down for days", "lapses soon"
	Credential string  // "Bearer · shared", "None"
	Tools      string  // "23"
	LastSync   When
	Actions    bool // the table has a column for the button
	CanSync    bool // shows the button; it is disabled while State is busy
	ReturnTo   string
}

// Lapsing foretells which accounts end unless somebody connects them again.
type Lapsing struct {
	Title string // "2 accounts lapse within 72 hours"
	Rows  []LapsingRow
}

// LapsingRow is an account that ends.
type LapsingRow struct {
	Connector string
	Agent     string // empty: all agents share it
	Href      string // where it is connected again
	When      When
}

// ConnectorChange is what the event stream says of a connector: its row, and its state for the connector's own page.
type ConnectorChange struct {
	Asset Assets
	Row   ConnectorRow
}

// syncProps is the button that reads a connector's tools now.
type syncProps struct {
	ID       string
	Action   string
	Name     string
	ReturnTo string
	Busy     bool
	Variant  string
}

func (s syncProps) size() string {
	if s.Variant == "ghost" {
		return "sm"
	}
	return "default"
}
