package templates

import "time"

// Nav names an entry of the navigation.
type Nav string

// NavNone highlights no entry.
const (
	NavNone       Nav = ""
	NavHome       Nav = "home"
	NavConnectors Nav = "connectors"
	NavTools      Nav = "tools"
	NavAgents     Nav = "agents"
	NavCalls      Nav = "calls"
	NavTasks      Nav = "tasks"
	NavApprovals  Nav = "approvals"
	NavNotices    Nav = "notices"
	NavWebhooks   Nav = "webhooks"
	NavRegistries Nav = "registries"
	NavChanges    Nav = "changes"
	NavAudit      Nav = "audit"
	NavMembers    Nav = "members"
	NavAPIKeys    Nav = "api-keys"
	NavSettings   Nav = "settings"
	NavAccount    Nav = "account"
)

// Frame is shared by all pages. With Title and Asset alone it serves pages without a signed-in person.
type Frame struct {
	Title   string // of the document, without the product's name
	Asset   Assets // web.Asset
	Path    string // path and query of this page; forms send it as return_to
	Active  Nav
	Crumbs  []Crumb // outermost first; the last is this page
	Flash   *Flash  // nil: no message
	Person  *Person // nil: not signed in
	Tenant  TenantChoice
	Tenants []TenantChoice // all tenants of the person, the current one included
	Can     Permissions
	Waiting int    // calls that wait for approval
	Needs   int    // all that needs attention, as the home page lists it
	Changes int    // changes of tools that wait
	Listen  string // the page's event stream

	Identity       string    // of the person in their tenant; a form that waits for a confirmation sends it
	ConfirmedUntil time.Time // no dangerous action asks before; zero: each asks
}

// Person is the signed-in person.
type Person struct {
	Name  string
	Email string
	Role  string // in the current tenant: "Owner"
}

// TenantChoice is a tenant that the person may switch to.
type TenantChoice struct {
	Slug   string
	Name   string
	Sample bool // of sample data
}

// Permissions holds the person's permissions. A page omits what they may not do.
type Permissions struct {
	Sync   bool // members and above: they also run tools, decide approvals and cancel calls
	Manage bool // admins and above: connectors, agents, credentials
	Bodies bool // auditors: arguments and results, if these are for auditors alone
	Audit  bool // admins, owners and auditors: the audit log
	Own    bool // owners: members, API keys, settings
}

// Crumb is one breadcrumb.
type Crumb struct {
	Text string
	Href string // empty: this page
	Mono bool   // monospace, for a machine's name
}

// FlashKind is how a flash is announced.
type FlashKind string

// The kinds of flashes.
const (
	FlashNotice FlashKind = "notice" // success; announced politely
	FlashAlert  FlashKind = "alert"  // failure; announced at once
)

// Flash is the message about the last action.
type Flash struct {
	Kind FlashKind
	Text string
	Said Quote // what a server said
	Undo *Undo // nil: it cannot be undone
}

// Undo is the form that undoes an act.
type Undo struct {
	Action string
	Fields []HiddenField
}

// Assets returns the address of a static file, as web.Asset does. A nil one returns plain names.
type Assets func(name string) string

func (a Assets) address(name string) string {
	if a == nil {
		return "/static/" + name
	}
	return a(name)
}

func (f Frame) flashIs(kind FlashKind) bool {
	return f.Flash != nil && f.Flash.Kind == kind
}

func (f Frame) ariaCurrent(nav Nav) string {
	if f.Active == nav {
		return "page"
	}
	return "false"
}
