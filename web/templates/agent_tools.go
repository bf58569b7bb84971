package templates

import "net/url"

// AgentToolsPage lists the tools that an agent sees, under the names it sees.
type AgentToolsPage struct {
	Frame     Frame
	Head      AgentHead
	Stats     []Stat         // number and size of the tools, for each provider
	Unused    *UnusedSummary // nil: the agent sees no tools
	Filter    Form           // q, provider, sort
	Providers []Option
	Sorts     []Option
	JSON      []Link         // the definitions in each provider's format
	Estimate  string         // how exact the numbers of tokens are
	List      *ToolListPanel // nil: the agent sees no tools
	Rows      []AgentToolRow
	Count     string
	Pager     Pager
}

// ToolListPanel is the size of the agent's tool list, and a trial of the search in a lean one. Its form sends find to the
// page.
type ToolListPanel struct {
	Text    string // "Full: all tools."
	Facts   []Fact // tokens of the full and the lean list
	Change  *Link  // the setting; nil: the viewer may not change it
	Words   string // of the search; empty: none
	Count   string // of what was found
	Results []ToolSearchRow
}

// ToolSearchRow is one tool that the search found.
type ToolSearchRow struct {
	Exposed  string
	Title    string
	Href     string
	Reasons  string // "“issue” in the name, “open” in the title"
	CallWith string
}

// PinForm pins a tool, or unpins it. It sends connector, tool, pinned and return_to to Action.
type PinForm struct {
	Action    string // empty: the viewer may not
	Connector string // slug
	Tool      string // the server's name
	Pinned    bool
	ReturnTo  string
}

// AgentToolRow is one tool, as an agent sees it.
type AgentToolRow struct {
	Exposed       string
	Title         string
	Href          string // of the page that explains the state
	Connector     string
	ConnectorHref string // the grant's page
	State         State  // "Callable", "Needs approval", "Held"
	Tokens        string // estimated size in a request
	Badges        []Badge
	Pin           PinForm
}

// AgentToolPage explains why an agent may or may not call a tool, and what to do about it.
type AgentToolPage struct {
	Frame   Frame
	Head    AgentHead
	Exposed string
	State   State
	Why     string // one sentence
	Advice  string // what to do; empty: nothing
	Links   []Link // to the repair, and to a trial of the tool
	Facts   []Fact
	Shaping *ShapingPanel // nil: the tool is not listed, or the viewer may not change it
}

// ShapingPanel is the form that shortens the answers of a tool, with a preview on recorded answers.
type ShapingPanel struct {
	Form    Form
	Here    string // the page
	Action  string
	On      bool // answers are shortened
	Preview bool // Answers and Advice are of the typed rule
	Answers []ShapedAnswer
	Advice  []ShapingAdvice
}

// ShapedAnswer is a recorded answer before and after.
type ShapedAnswer struct {
	Href    string // of its call
	Before  string // tokens
	After   string
	Summary string // of what is left out; empty: nothing
	Text    string // the shortened answer; empty: it is whole
}

// ShapingAdvice is a field that much of the answers consists of, and the page with a rule that leaves it out.
type ShapingAdvice struct {
	Text   string
	Fill   string // the page with a preview of the advice
	Fields string // with Budget, the rule of the advice
	Budget string
	Before string // tokens of the newest answer
	After  string
}

// askHref leads to the explanation why the searched name is not seen.
func (p AgentToolsPage) askHref() string {
	return p.Head.Href + "/tools/" + url.PathEscape(p.Filter.Value("q"))
}
