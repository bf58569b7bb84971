package templates

// AuthorizePage asks a person whether a program may be an agent, or act as them.
type AuthorizePage struct {
	Frame     Frame
	Host      string // whose document says who the program is; empty: nobody can tell
	Name      string // what the program calls itself
	Goes      string // where the answer goes
	Local     bool   // to the person's own machine, where any program may wait for it
	Opens     string // what at the gateway
	Person    string
	Tenant    TenantChoice
	Elsewhere []Link // the same question in the person's other tenants
	Agents    []Option
	Pager     Pager    // of the agents
	Scopes    []Option // what it may do as the person; nil: it is to be an agent
	Role      string   // of the person, where it is to act as them
	Form      Form
	Action    string
	Denied    string // why this person cannot let programs in; empty: they can
}
