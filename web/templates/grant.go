package templates

import "strconv"

// GrantPage is an agent's grant of one connector. Its form sends all ("true" or "false"), tool (repeated),
// trusted (likewise), tool_end (the GrantTool.End of each), until and until_at (as AccessAskPage), approval ("": the agent's), prompts and resources ("": the default) to Action. With do ("show", "choose" or "drop"), q and
// effect it goes to Action + "/choose", which shows the page with other checkboxes ticked and stores nothing.
type GrantPage struct {
	Frame      Frame
	Head       AgentHead
	Connector  string
	ToolsHref  string // the connector's tools
	Action     string
	Granted    bool
	Form       Form
	Accounts   []Choice // of the field account, repeated, one is required; nil: not asked
	NoAccount  string   // why the grant has no usable account; empty: it has
	Account    string   // "Account work"; empty: the owner's only one
	Credential string   // address of the connector's credentials
	Until      string   // "Ends on 31 Jan 2027, 18:00:00 UTC"; empty: never
	Ends       []Option // common ends
	Approvals  []Option
	TrustsHere bool        // the agent's approval mode trusts some tools
	Reaches    []GrantLink // the agent's granted connectors, and this one
	Filter     Form        // q and effect
	Effects    []Option    // the effects of tools, with their numbers
	Tools      []GrantTool
	Count      string // "3 of 23 chosen, about 410 tokens"
	Usual      string // what the agent gets now of most tools; empty without a grant
	Shown      string // "5 shown"; empty: all are
	Estimate   string // how exact the numbers of tokens are
	More       string // that the list is cut; empty: it is complete
	Goes       []string

	PromptChoices   []Option
	ResourceChoices []Option
	ItemNotes       []string // what the grant's choices of prompts and resources mean now
}

// GrantLink is one of the connectors of an agent.
type GrantLink struct {
	Connector string
	Href      string
	Tools     string // "3 of 23 tools"
	Approval  string // "Ask every time"; empty without a grant
	Here      bool
}

// GrantTool is one tool with its checkbox.
type GrantTool struct {
	Name    string
	Shown   string // the name, cleaned
	Title   string
	Icon    string // a data URL; empty: none
	About   string // first line of its description
	Badges  []Badge
	Effect  string // one of Effects
	Tokens  int    // estimated size in a request; 0: not known
	Size    string // "120 tokens"
	Granted bool
	End     string // the value of tool_end, for a tool with an end of its own that has not come
	Trusted bool
	Hidden  bool   // the filter hides it
	Now     State  // what the agent gets now, as a sentence; empty if it is the usual
	WhyHref string // of the explanation
}

func (t GrantTool) tokensText() string { return strconv.Itoa(t.Tokens) }
