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
	JSON      []Link // the definitions in each provider's format
	Estimate  string // how exact the numbers of tokens are
	Rows      []AgentToolRow
	Count     string
	Pager     Pager
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
}

// askHref leads to the explanation why the searched name is not seen.
func (p AgentToolsPage) askHref() string {
	return p.Head.Href + "/tools/" + url.PathEscape(p.Filter.Value("q"))
}
