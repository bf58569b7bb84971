package templates

// UnusedSummary is the share of an agent's tools that it never calls. It is shown above the review, and on the
// Tools tab, where it loads after the page.
type UnusedSummary struct {
	Asset  Assets
	Title  string // "34 of 52 tools were not called in 30 days"
	Text   string // what removing them saves
	Warn   bool   // there are tools to review
	Later  string // address of the summary, if it loads later; else empty
	Review string // address of the review; empty on the review itself
}

func (s UnusedSummary) stateKind() StateKind {
	if s.Warn {
		return StateWarn
	}
	return StateOff
}

func (s UnusedSummary) stateIcon() string {
	if s.Warn {
		return "triangle-alert"
	}
	return "info"
}

// UnusedPage is the review of an agent's unused tools. Its form sends tool ("linear/create_issue", repeated) to
// Action.
type UnusedPage struct {
	Frame     Frame
	Head      AgentHead
	Summary   UnusedSummary
	Filter    Form // days, provider
	Days      []Option
	Providers []Option
	Groups    []UnusedGroup
	Often     []OftenCalledTool // to pin in a lean list; empty: none
	Action    string
	Drop      string // "Remove selected tools"
	Young     string // how many tools are too new to judge; empty: none
	Estimate  string
}

// OftenCalledTool is a tool that is called often and is not pinned.
type OftenCalledTool struct {
	Exposed string
	Href    string
	Calls   string // "120 calls"
	Pin     PinForm
}

// UnusedGroup is the unused tools of one connector.
type UnusedGroup struct {
	Connector string
	Href      string // the grant's page
	Count     string // "12 of 23 tools, about 3,100 tokens"
	Note      string // what else a narrower grant changes; empty: nothing
	Tools     []UnusedTool
}

// UnusedTool is one unused tool.
type UnusedTool struct {
	Value  string // "linear/create_issue"
	Shown  string
	Title  string
	Size   string // "120 tokens"
	Badges []Badge
}
