package templates

import "net/url"

// AgentToolsPage lists what an agent sees, under the names that it sees.
type AgentToolsPage struct {
	Frame     Frame
	Head      AgentHead
	Stats     []Stat         // how many tools, and how much they take, for each provider
	Unused    *UnusedSummary // nil: the agent sees nothing
	Filter    Form           // q, provider, sort
	Providers []Option
	Sorts     []Option
	JSON      []Link // what each provider is sent
	Estimate  string // what the numbers of tokens are worth
	Rows      []AgentToolRow
	Count     string
	Pager     Pager
}

// AgentToolRow is one tool, as an agent sees it.
type AgentToolRow struct {
	Exposed       string
	Title         string
	Href          string // why it is so
	Connector     string
	ConnectorHref string // the grant's page
	State         State  // "Callable", "Asks a person", "Held"
	Tokens        string // what it takes of a request, estimated
	Badges        []Badge
}

// AgentToolPage says why an agent may or may not call a tool, and what to do about it.
type AgentToolPage struct {
	Frame   Frame
	Head    AgentHead
	Exposed string
	State   State
	Why     string // one sentence
	Advice  string // what to do about it; empty: nothing
	Links   []Link // ways to mend it, and to try the tool
	Facts   []Fact
}

// askHref leads to why the name that was looked for is not seen.
func (p AgentToolsPage) askHref() string {
	return p.Head.Href + "/tools/" + url.PathEscape(p.Filter.Value("q"))
}
