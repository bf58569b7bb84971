package templates

// ConnectorsPage lists the connectors.
type ConnectorsPage struct {
	Frame    Frame
	Stats    []Stat // four figures
	Heads    Heads  // name, status, tools, synced
	Filter   Form   // q, status, auth, transport, tag and sort
	Filtered bool
	Bulk     *ConnectorBulk    // nil: nothing can be done to several
	Expiring *ExpiringAccounts // nil: no account ends soon
	Sweep    *BulkSync         // nil: no sync of all connectors runs or just ended
	Rows     []ConnectorRow
	Count    string // "7 connectors"
	Pager    Pager

	Statuses, Auths, Transports []Option // with "" for all
	Tags                        []Option // likewise; empty: there are no tags
}

// ConnectorBulk is the bar of the selected connectors. Its form sends connector (repeated), do ("sync", "enable",
// "disable", "tag", "untag" or "grant"), word, agent and return_to.
type ConnectorBulk struct {
	ReturnTo string
	All      bool     // all rows are selected
	AllHref  string   // the page with all rows selected, or none
	Agents   []Option // empty: the viewer may only sync
}

// RowFigures are the figures of a row that only the list has.
type RowFigures struct {
	UsedBy     string // agents
	UsedByHref string
	Calls      string // in 24 hours
	Failed     string // "3 errors"; empty: none
	CallsHref  string
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
	Actions    bool   // the table has a column for buttons
	Box        string // value of the row's checkbox; empty: it has none
	Chosen     bool
	Tags       []string
	Figures    *RowFigures // nil: of another list
	CanSync    bool        // shows the button, disabled while State is busy
	Cancel     string      // where the running sync is cancelled; empty: there is none, or the person may not
	ReturnTo   string
}

// ExpiringAccounts lists the accounts that end soon unless a person connects them again.
type ExpiringAccounts struct {
	Title string // "2 accounts to reconnect"
	Rows  []ExpiringAccountRow
}

// ExpiringAccountRow is one account in ExpiringAccounts.
type ExpiringAccountRow struct {
	Connector string
	Agent     string // empty: all agents share it
	Account   string // its name; empty: the owner's only one
	Href      string // of the page to connect it again
	State     string // "ends" or "expired", before When
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
