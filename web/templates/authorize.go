package templates

// AuthorizePage asks a person whether a program may be an agent.
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
	Form      Form
	Action    string
	Denied    string // why this person cannot let programs in; empty: they can
}
