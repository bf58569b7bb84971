package templates

// ConnectorPromptsPage lists a connector's prompts.
type ConnectorPromptsPage struct {
	Frame    Frame
	Head     ConnectorHead
	Filter   Form // q
	Filtered bool
	Synced   bool
	Prompts  ItemTable
	Pager    Pager
}

// ConnectorResourcesPage lists a connector's resources, resource templates and skills.
type ConnectorResourcesPage struct {
	Frame     Frame
	Head      ConnectorHead
	Filter    Form // q
	Filtered  bool
	Synced    bool
	Resources ItemTable
	Pager     Pager // of Resources
	Templates ItemTable
	Skills    ItemTable
	More      string // that not all templates are shown; empty: they are
}

// AgentItemsPage lists the prompts, resources and templates that an agent sees.
type AgentItemsPage struct {
	Frame     Frame
	Head      AgentHead
	Filter    Form // q
	Filtered  bool
	Prompts   ItemTable
	Resources ItemTable
	Templates ItemTable
	Pager     Pager // leads to the file
}

// ItemTable is a table of prompts, resources or templates.
type ItemTable struct {
	Title string // "Resources"
	First string // the head of the first column: "Name", "URI"
	Count string // "3 prompts"
	Rows  []ItemRow
}

// ItemRow is a prompt, resource or template.
type ItemRow struct {
	Key       string // name, URI or URI template
	Title     string
	About     string // first line of its description, or how the server calls it
	Details   []string
	Badges    []Badge
	Changed   *When  // nil: not shown
	Connector string // of an agent's item; empty: not shown
	Href      string // of the grant, or of a skill's changes; empty: none
	State     State  // of an agent's item
}

func (t ItemTable) hasConnectors() bool { return len(t.Rows) > 0 && t.Rows[0].Connector != "" }
