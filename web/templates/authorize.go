package templates

// AuthorizePage is the OAuth consent page: a program asks to be an agent, or to act as the person.
type AuthorizePage struct {
	Frame     Frame
	Host      string // host of the client's metadata document; empty: not known
	Name      string // the client's name for itself
	Goes      string // the redirect target
	Local     bool   // the target is the person's machine, where any program may listen
	Opens     string // the requested resource
	Person    string
	Tenant    TenantChoice
	Elsewhere []Link // the same request in the person's other tenants
	Agents    []Option
	Pager     Pager    // of the agents
	Scopes    []Option // if it is to act as the person; nil: it is to be an agent
	Role      string   // the person's, if it is to act as them
	Form      Form
	Action    string
	Denied    string // why this person may not consent; empty: they may
}
