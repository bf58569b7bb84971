package templates

// AgentAccessPage lists connectors with an agent's access. The form of the selection sends connector (repeated), do ("grant",
// "remove" or "approval"), approval and return_to to the page's address.
type AgentAccessPage struct {
	Frame     Frame
	Head      AgentHead
	Filter    Form // q, access and tag
	Kinds     []Option
	Tags      []Option // empty: there are no tags
	Filtered  bool
	Rows      []GrantRow
	Approvals []Option
	ReturnTo  string
	All       bool   // all rows are selected
	AllHref   string // the page with all rows selected, or none
	Count     string
	Pager     Pager
}

// GrantRow is one connector with an agent's grant.
type GrantRow struct {
	Connector string
	Slug      string
	Mark      Mark
	Href      string // the grant's page
	State     State  // the connector's
	Tools     string // "All 23 tools", "3 of 23 tools"; without a grant "23 tools"
	Ends      string // "Ends on 7 Dec 2026"; empty: never
	Account   string // "Account work"; empty: the only one
	Items     string // "Prompts, resources"; empty: none
	Tokens    string // estimated size of the tools in a request; empty without a grant
	Approval  string // "Ask every time"; empty without a grant
}

// rowBoxes are the boxes before the rows of a list.
type rowBoxes struct {
	name    string
	checked bool
}

func accessBox(p AgentAccessPage) *rowBoxes {
	if !p.Frame.Can.Manage {
		return nil
	}
	return &rowBoxes{name: "connector", checked: p.All}
}
