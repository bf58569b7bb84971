package templates

// ToolView is one tool, as lists and its own page show it.
type ToolView struct {
	Name          string
	Title         string
	Icon          string // a data URL; empty: none
	Description   string
	Alias         string // the name for agents, if curated; else empty
	AgentText     string // the description for agents, likewise
	Chosen        bool   // its checkbox is ticked
	Href          string // its page; empty: none, as in a test
	Connector     string // the connector's name
	ConnectorHref string
	Mark          Mark // of the connector, in a list of several connectors' tools
	Badges        []Badge
	Params        []Param
	Raw           string // the definition, indented JSON
	FirstSeen     When
	Changed       When
	LastSeen      When
	Removed       *When // nil: it exists
}

// Param is one parameter of a tool's input schema.
type Param struct {
	Name        string // with its parents: "filter.labels[]"
	Type        string // "string", "integer or null", "array of string"
	Required    bool
	Description string
	Notes       []string // "one of low, normal, high", "default 20", "1–100"
}

// QuarantinedTool is a malformed entry of a tool list.
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
	Filtered    bool     // the filter is set
	States      []Option // with "" for any, as the next two
	Hints       []Option
	Tags        []Option
	Bulk        *ToolBulk // nil: the person may not
	Rows        []ToolView
	Count       string // "23 tools"
	Quarantined []QuarantinedTool
	Pager       Pager
	Synced      bool       // there was a successful sync
	Old         *Attention // that the list is stale; nil: it is current
}

// ToolPage shows one tool.
type ToolPage struct {
	Frame  Frame
	Tool   ToolView
	About  []Fact     // connector, exposed as, first seen, last change …
	Try    *TryIt     // nil: the person may not
	Answer *APIAnswer // nil: the tool is not of an HTTP API
	Change *Attention // a change that waits for a decision; nil: none
	Curate Curate
	Input  string // the input schema, for copying; empty: none
	Output string // the output schema, likewise
}

// ToolsPage searches the tools of all connectors.
type ToolsPage struct {
	Frame Frame
	Heads Heads  // name, connector, changed
	Sort  string // the sort parameter

	Filter     Form     // q, connector, state, annotation
	Filtered   bool     // any filter is set
	Connectors []Option // with "" for all
	States     []Option
	Hints      []Option

	Rows  []ToolView
	Count string // of all pages
	Pager Pager
}
