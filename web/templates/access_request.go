package templates

// AccessRequestsPage lists requests for access, newest first. Its filter sends state.
type AccessRequestsPage struct {
	Frame  Frame
	Filter Form
	States []Option
	Rows   []AccessRequestRow
	Count  string
	Pager  Pager
}

// AccessRequestRow is one request in the list.
type AccessRequestRow struct {
	Href      string
	Agent     string
	Connector string
	Tools     string // "All tools", "3 tools"
	AskedBy   string
	Asked     When
	Ends      string // "in 7 days", "No end"
	State     State
}

// AccessRequestPage is a request with what a decision rests on. Its form sends until ("asked", "24h", "custom" or nothing),
// until_at and note to Action + "/accept", or note to Action + "/refuse".
type AccessRequestPage struct {
	Frame    Frame
	Title    string // "Support → Linear"
	State    State
	Facts    []Fact
	Reason   string
	Note     string // of the decision; empty: none
	Action   string
	Withdraw bool          // the viewer may withdraw it
	Review   *AccessReview // nil: the viewer may not decide, or it was decided
}

// AccessReview is what a decision on a request rests on.
type AccessReview struct {
	Form   Form
	Ends   []Option
	Grant  []Fact // before and after
	Tools  []RequestedTool
	More   string // what the table omits; empty: nothing
	Others []Fact // other agents with access to the connector
}

// RequestedTool is a tool of a request, with its calls of 30 days.
type RequestedTool struct {
	Name    string
	Href    string
	Badges  []Badge
	Calls   string
	Failed  string
	Refused string // calls of the agent that were not granted
}

// AccessAskPage asks for access. Its first form chooses agent and connector; the second sends agent, connector, all, tool, reason, until
// ("24h", "custom" or nothing) and until_at to /access/request.
type AccessAskPage struct {
	Frame      Frame
	Form       Form
	Agents     []Option
	Connectors []Option
	Chosen     bool   // agent and connector are known
	Title      string // "Support → Linear"
	Other      string // address of the first form
	Tools      []AskedTool
	More       string // what the list omits; empty: nothing
	Ends       []Option
}

// AskedTool is a tool that can be asked for.
type AskedTool struct {
	Name    string
	Shown   string
	Title   string
	Checked bool
	Badges  []Badge
}
