package templates

// UnusedSummary says how much of what an agent sees it never calls. It stands on the agent's Tools tab, where it arrives after the page,
// and above the review.
type UnusedSummary struct {
	Asset  Assets
	Title  string // "34 of 52 tools were not called in 30 days"
	Text   string // what leaving them out saves
	Warn   bool   // there is something to review
	Later  string // where the summary is to be fetched from; empty: this is it
	Review string // the review's address; empty: this is the review
}

func (s UnusedSummary) kind() StateKind {
	if s.Warn {
		return StateWarn
	}
	return StateOff
}

func (s UnusedSummary) icon() string {
	if s.Warn {
		return "triangle-alert"
	}
	return "info"
}

// UnusedPage is the review of the tools that an agent does not call. Its form sends tool ("linear/create_issue", as often as wanted)
// to Action.
type UnusedPage struct {
	Frame     Frame
	Head      AgentHead
	Summary   UnusedSummary
	Filter    Form // days, provider
	Days      []Option
	Providers []Option
	Groups    []UnusedGroup
	Action    string
	Drop      string // "Take the chosen tools away"
	Young     string // says how many are too new to tell; empty: none
	Estimate  string
}

// UnusedGroup are the tools of one connector that were not called.
type UnusedGroup struct {
	Connector string
	Href      string // the grant's page
	Count     string // "12 of 23 tools, about 3,100 tokens"
	Note      string // what else a narrower grant means; empty: nothing
	Tools     []UnusedTool
}

// UnusedTool is one of them.
type UnusedTool struct {
	Value  string // "linear/create_issue"
	Shown  string
	Title  string
	Size   string // "120 tokens"
	Badges []Badge
}
