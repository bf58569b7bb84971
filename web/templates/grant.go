package templates

import "strconv"

// GrantPage chooses what an agent may use of one connector. Its form sends all ("true" or "false"), tool (a name, as often as
// wanted), trusted (likewise), and approval ("": as the agent's) to Action. With do ("show", "choose" or "drop"), q and effect it goes to
// Action + "/choose", which answers the same page with other ticks and stores nothing.
type GrantPage struct {
	Frame      Frame
	Head       AgentHead
	Connector  string
	ToolsHref  string // the connector's tools
	Action     string
	Granted    bool
	Form       Form
	Approvals  []Option
	TrustsHere bool        // the agent's own rule is to ask but for trusted tools
	Reaches    []GrantLink // the connectors that the agent was granted, and this one
	Filter     Form        // q and effect
	Effects    []Option    // what servers say that tools do, with how many there are
	Tools      []GrantTool
	Count      string // "3 of 23 chosen, about 410 tokens"
	Shown      string // "5 shown"; empty: all are
	Estimate   string // what the tokens are an estimate of
	More       string // says that the list is cut; empty: it is whole
	Goes       []string
}

// GrantLink is one of the connectors of an agent.
type GrantLink struct {
	Connector string
	Href      string
	Tools     string // "3 of 23 tools"
	Approval  string // "Ask every time"; empty: nothing is granted
	State     State
	Here      bool
}

// GrantTool is one tool to choose.
type GrantTool struct {
	Name    string
	Shown   string // the name, fit for a page
	Title   string
	Icon    string // a picture as an address that holds it; empty: none
	About   string // a line of its description
	Badges  []Badge
	Effect  string // one of Effects
	Tokens  int    // that it takes of a request, estimated; 0: not known
	Size    string // "120 tokens"
	Granted bool
	Trusted bool
	Hidden  bool   // the filter leaves it out
	Now     State  // a sentence: what the agent finds now; without a text: nothing is granted of the connector
	WhyHref string // where more is said of it
}

func (t GrantTool) tokens() string { return strconv.Itoa(t.Tokens) }
