package templates

// ConnectorsPage lists the connectors.
type ConnectorsPage struct {
	Frame    Frame
	Stats    []Stat // four figures
	Heads    Heads  // name, status, tools, synced
	Sort     string // the sort parameter
	Query    string
	Status   string            // of Statuses
	Statuses []Option          // with "" for all
	Filtered bool              // Query or Status is set
	Expiring *ExpiringAccounts // nil: no account ends soon
	Sweep    *BulkSync         // nil: no sync of all connectors runs or just ended
	Rows     []ConnectorRow
	Count    string // "7 connectors"
	Pager    Pager
}

// ConnectorRow is one connector in a table.
type ConnectorRow struct {
	ID         string // the UUID; the row's element id is "connector-" + ID
	Name       string
	Href       string // "/connectors/linear"
	Whole      string // full name and address if the row may cut them; else empty
	Mark       Mark
	URL        string
	URLUnicode string // as of ConnectorHead
	State      State
	Reason     string  // one sentence under the state; empty: none
	Repair     *Link   // to the repair, beside the state; nil: none
	Remarks    []Badge // besides the state: "down for days", "expires soon"
	Credential string  // "Bearer · shared", "None"
	Tools      string  // "23"
	LastSync   When
	Actions    bool // the table has a column for buttons
	CanSync    bool // shows the button, disabled while State is busy
	ReturnTo   string
}

// ExpiringAccounts lists the accounts that end soon unless a person connects them again.
type ExpiringAccounts struct {
	Title string // "2 accounts expire within 72 hours"
	Rows  []ExpiringAccountRow
}

// ExpiringAccountRow is one account in ExpiringAccounts.
type ExpiringAccountRow struct {
	Connector string
	Agent     string // empty: all agents share it
	Href      string // of the page to connect it again
	When      When
}

// ConnectorChange is an event about a connector: its row, and its state for its own page.
type ConnectorChange struct {
	Asset Assets
	Row   ConnectorRow
}

// syncProps is the sync button.
type syncProps struct {
	ID       string
	Action   string
	Name     string
	ReturnTo string
	Busy     bool
	Variant  string
}

func (s syncProps) buttonSize() string {
	if s.Variant == "ghost" {
		return "sm"
	}
	return "default"
}
