package templates

// ApprovalsPage is the inbox: calls that wait for approval, newest first.
type ApprovalsPage struct {
	Frame Frame
	Rows  []ApprovalCard
	Pager Pager
}

// ApprovalPage shows one call that waits or waited for approval.
type ApprovalPage struct {
	Frame Frame
	Card  ApprovalCard
}

// ApprovalCard is a call to decide. Its forms send allow ("2h", or absent) to Action + "/approve", and reason
// to Action + "/deny".
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
	Account   string // that the call uses; empty: unknown
	Mark      Mark   // of the connector
	Badges    []Badge
	Effect    string     // the tool's effect, by its server's annotations
	Risky     *Attention // a warning
	Arguments Content
	History   string // "Called 12 times in the last 30 days, denied once."
	Asked     When
	Since     string // RFC 3339, while it waits
	Waits     string // "2 min 5 s"
	Ends      When
	State     State
	Waiting   bool
	Open      bool    // approved, and not ended
	Call      CallRow // after the decision; without an ID: not known
	Result    *Result // on a page of its own; nil: none yet
	Decided   string  // "Denied by Ada: not now"; empty: not decided
	CallHref  string
	CanDecide bool
	CanAllow  bool   // the same request can be allowed for a time
	Refusal   string // why a person with a deciding role may not decide this one; empty: they may
	ReturnTo  string
}

// ApprovalNews is an event of the inbox.
type ApprovalNews struct {
	Come    []ApprovalCard // newest last
	Decided []ApprovalCard // or withdrawn
}
