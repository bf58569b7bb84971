package templates

// ToolView is one tool, with everything that a list or its own page shows of it.
type ToolView struct {
	Name          string
	Title         string
	Icon          string // a picture as an address that holds it; empty: none
	Description   string
	Alias         string // the name for agents, where an admin gave it another; else empty
	AgentText     string // the description for agents, likewise
	Chosen        bool   // its box is ticked
	Href          string // its page; empty: none, as in a test
	Connector     string // the connector's name
	ConnectorHref string
	Badges        []Badge
	Params        []Param
	Raw           string // the definition, indented JSON
	FirstSeen     When
	Changed       When
	LastSeen      When
	Removed       *When // nil: it is there
}

// Param is one parameter of a tool, as its schema describes it.
type Param struct {
	Name        string // with its parents: "filter.labels[]"
	Type        string // "string", "integer or null", "array of string"
	Required    bool
	Description string
	Notes       []string // "one of low, normal, high", "default 20", "1–100"
}

// QuarantinedTool is an entry of a tool list that is not a tool.
type QuarantinedTool struct {
	Name   string // "(no name)" where there is none
	Reason string
	Raw    string
}

// ConnectorToolsPage lists the tools of one connector.
type ConnectorToolsPage struct {
	Frame       Frame
	Head        ConnectorHead
	Filter      Form     // q, state, annotation, tag and removed, as the address has them
	Filtered    bool     // it leaves some out
	States      []Option // with "" for any; so are the next two
	Hints       []Option
	Tags        []Option
	Bulk        *ToolBulk // nil: the person may not
	Rows        []ToolView
	Count       string // "23 tools"
	Quarantined []QuarantinedTool
	Pager       Pager
	Synced      bool       // the list has been read at least once
	Old         *Attention // the list is not the server's of now; nil: it is, as far as is known
}

// ToolPage shows one tool.
type ToolPage struct {
	Frame  Frame
	Tool   ToolView
	About  []Fact     // connector, exposed as, first seen, last change …
	Try    *TryIt     // nil: the person may not
	Change *Attention // what waits for a decision; nil: nothing does
	Curate Curate
	Input  string // the input schema, to copy; empty: none
	Output string // the output schema, likewise
}

// ToolsPage searches the tools of all connectors.
type ToolsPage struct {
	Frame Frame
	Heads Heads  // name, connector, changed
	Sort  string // what the address says of the order
	Query string
	Rows  []ToolView
	Count string
	Pager Pager
}
