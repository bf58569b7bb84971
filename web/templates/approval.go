package templates

// ApprovalsPage is the inbox: the calls that wait for a person, the newest first.
type ApprovalsPage struct {
	Frame Frame
	Rows  []ApprovalCard
	Pager Pager
}

// ApprovalPage is about one call that waits, or waited.
type ApprovalPage struct {
	Frame Frame
	Card  ApprovalCard
}

// ApprovalCard is a call that a person decides about. Its forms send allow ("2h", or absent) to Action + "/approve", and reason to
// Action + "/deny".
type ApprovalCard struct {
	Asset     Assets
	ID        string
	Action    string // "/approvals/…"
	Tool      string
	ToolHref  string
	Title     string
	Agent     string
	AgentHref string
	Connector string
	Badges    []Badge
	Effect    string     // what the server says that the tool does
	Risky     *Attention // what to look at twice
	Arguments Content
	History   string // "Called 12 times in the last 30 days, denied once."
	Asked     When
	Since     string // RFC 3339, while it waits
	Waits     string // "2 min 5 s"
	Ends      When
	State     State
	Waiting   bool
	Decided   string // "Denied by Ada: not now"; empty: nobody decided
	CallHref  string
	CanDecide bool
	Refusal   string // why somebody whose role decides does not decide about this one; empty: they do
	ReturnTo  string
}

// ApprovalNews is what the event stream says of the inbox.
type ApprovalNews struct {
	Come    []ApprovalCard // the newest last
	Decided []ApprovalCard // or gone otherwise
}
