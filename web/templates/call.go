package templates

// CallsPage lists tool calls, the newest first. Its filter sends agent, connector, status and tool to /calls.
type CallsPage struct {
	Frame  Frame
	Filter Form
	List   CallList
	Agents []Option // with "" for all
	// Connectors and Statuses, likewise.
	Connectors []Option
	Statuses   []Option
	Quotas     []QuotaBar // that are used up, or nearly
}

// CallList is the part of the page that the event stream renews.
type CallList struct {
	Asset    Assets
	Rows     []CallRow
	Count    string
	Filtered bool
	Acts     bool // the table has a column for the button that cancels
	Pager    Pager
}

// CallRow is one call in a list.
type CallRow struct {
	ID        string
	Href      string
	Tool      string
	Kind      string // "prompt", "resource"; empty: a tool
	Agent     string
	Connector string
	State     State
	Reason    string // one line under the state
	Progress  string // how far it is, as its server says: "4 of 10: “copying”"
	Percent   string // likewise; empty: how much there is to do is not known
	Started   When
	Duration  string
	Since     string // RFC 3339, while it runs: the duration counts from here
	Cancel    string // where cancelling posts to; empty: it cannot be
}

// CallPage is about one call.
type CallPage struct {
	Frame  Frame
	Detail CallDetail
}

// CallDetail is the part of the page that the event stream renews.
type CallDetail struct {
	Asset     Assets
	Call      CallRow
	Facts     []Fact
	Attention *Attention // that it waits for a person, why it failed
	Arguments Content
	Result    *Result // nil: there is none yet
	Again     *Link   // to try the tool with the same arguments
}

// Content is a piece of JSON, or why it is not there.
type Content struct {
	JSON string
	Note string // in place of, or below JSON
}

// Result is what a tool answered, for the eyes of a person. All of it is remote text.
type Result struct {
	State      State // "Done", "The tool reports an error"
	Facts      string
	Blocks     []ResultBlock
	Structured string      // indented JSON; empty: none
	Misfit     *Attention  // the structured content is not what the tool's output schema promises
	Note       string      // says what is missing, and why
	Problem    *Attention  // there is no result, and why
	Link       *Link       // to the call
	Checked    string      // "It fits the output schema."; empty: there is none
	Waiting    *ResultWait // it is not there yet
}

// ResultWait says what a call waits for.
type ResultWait struct {
	Text  string
	Since string
	Link  Link
}

// BlockKind says how a block is shown.
type BlockKind string

// The kinds of blocks.
const (
	BlockText  BlockKind = "text"
	BlockJSON  BlockKind = "json"
	BlockImage BlockKind = "image"
	BlockFile  BlockKind = "file" // what is named, and not shown
	BlockLink  BlockKind = "link"
)

// ResultBlock is one block of a tool's answer.
type ResultBlock struct {
	Kind  BlockKind
	Title string // "Image", "Resource", "Link": what it is
	About string // "image/png · 12 KiB"
	Text  string // of BlockText, BlockJSON; the URI of BlockLink and BlockFile
	Src   string // of a picture that may be shown; empty: only said to be there
}
