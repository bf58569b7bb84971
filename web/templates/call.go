package templates

// CallsPage lists tool calls, newest first. Its filter sends agent, connector, status and tool to /calls.
type CallsPage struct {
	Frame  Frame
	Filter Form     // its problem: what is wrong with the range
	Ranges []Option // the last one: from and to are sent, too
	List   CallList
	Agents []Option // with "" for all
	// Connectors and Statuses, likewise.
	Connectors []Option
	Statuses   []Option
	Quotas     []QuotaBar // exhausted, or nearly
}

// CallList is the part of the page that the event stream replaces.
type CallList struct {
	Asset    Assets
	Rows     []CallRow
	Count    string
	Home     string     // the page without filter
	Wider    string     // the page with the longest range
	Chart    *CallChart // nil: there are no calls
	Filtered bool
	Acts     bool // the table has a column for the cancel button
	Pager    Pager
}

// CallRow is one call in a table.
type CallRow struct {
	ID        string
	Href      string
	Tool      string
	Title     string // of the tool; empty: none
	Mark      Mark   // of the connector
	Kind      string // "prompt", "resource"; empty: a tool
	Agent     string
	Connector string
	State     State
	Reason    string // one line under the state
	Said      string // first line of the server's words on a failure, in place of Reason; empty: none
	Progress  string // as its server reports it: "4 of 10: “copying”"
	Percent   string // likewise; empty: the total is not known
	Started   When
	Duration  string // without Waited
	Waited    string // "waited 2 min 30 s": for approval; empty: it did not, or not known
	Since     string // RFC 3339, while it runs: start of the duration
	Cancel    string // address of the cancellation; empty: it cannot be cancelled
}

// CallChart are the calls of a range of time, with a bar for each of its parts.
type CallChart struct {
	Said     string // "4,812 calls, 3 errors"
	ViewBox  string
	From, To string
	Bars     []CallBar
}

// CallBar is one part of the range. It leads to the part's calls.
type CallBar struct {
	Href  string
	Label string // "21 Nov, 10:00 UTC: 12 calls, 1 error"
	Bars  []Bar

	X, Width, Height string // of the place that can be pressed
}

// CallPage shows one call.
type CallPage struct {
	Frame  Frame
	Detail CallDetail
}

// CallDetail is the part of the page that the event stream replaces.
type CallDetail struct {
	Asset     Assets
	Call      CallRow
	Facts     []Fact
	Attention *Attention // that it waits for approval, or why it failed
	Said      Quote
	Arguments Content
	Result    *Result // nil: none yet
	Again     *Link   // to a trial of the tool with the same arguments
}

// shownResult is the result without its state, which Attention has already.
func (d CallDetail) shownResult() Result {
	r := *d.Result
	if d.Attention != nil && r.State.Kind == StateBad {
		r.State = State{}
	}
	return r
}

// Content is a piece of JSON, or the reason why it is missing.
type Content struct {
	JSON string
	Note string // instead of JSON, or below it
}

// Result is a tool's result. All of it is remote text.
type Result struct {
	State      State // "Done", "Tool error"
	Facts      string
	Blocks     []ResultBlock
	Structured string      // indented JSON; empty: none
	Misfit     *Attention  // the structured content does not match the output schema
	Note       string      // what is missing, and why
	Problem    *Attention  // why there is no result
	Link       *Link       // to the call
	Checked    string      // "Matches the output schema.", or could not be checked; empty: there is no schema, or Misfit
	Waiting    *ResultWait // the result is pending
}

// ResultWait says what a pending result waits for.
type ResultWait struct {
	Text  string
	Since string
	Link  Link
}

// BlockKind is how a block is shown.
type BlockKind string

// The kinds of blocks.
const (
	BlockText  BlockKind = "text"
	BlockJSON  BlockKind = "json"
	BlockImage BlockKind = "image"
	BlockFile  BlockKind = "file" // named, but not shown
	BlockLink  BlockKind = "link"
)

// ResultBlock is one content block of a result.
type ResultBlock struct {
	Kind  BlockKind
	Title string // "Image", "Resource", "Link"
	About string // "image/png · 12 KiB"
	Text  string // of BlockText, BlockJSON; the URI of BlockLink and BlockFile
	Src   string // address of a shown picture; empty: it is only named
}
