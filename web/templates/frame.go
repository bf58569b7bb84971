package templates

// Nav names an entry of the navigation.
type Nav string

// The entries of the navigation. NavNone highlights nothing.
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
	NavChanges    Nav = "changes"
	NavAudit      Nav = "audit"
	NavMembers    Nav = "members"
	NavAPIKeys    Nav = "api-keys"
	NavSettings   Nav = "settings"
	NavAccount    Nav = "account"
)

// Frame is what every page shares. The zero value but for Title and Asset serves pages that nobody is signed in to.
type Frame struct {
	Title   string // of the document, without the product's name
	Asset   Assets // web.Asset
	Path    string // path and query of this page; forms send it as return_to
	Active  Nav
	Crumbs  []Crumb // from the outside in; the last one is this page
	Flash   *Flash  // nil: nothing to say
	Person  *Person // nil: nobody is signed in
	Tenant  TenantChoice
	Tenants []TenantChoice // all that the person belongs to, the current one among them
	Can     Can
	Waiting int    // calls that wait for a person
	Unread  int    // notices that this person has not read; from 100 on there are more
	Changes int    // changes of tools that do
	Listen  string // the address of the event stream that refreshes the page; empty: none does
}

// Person is who is signed in.
type Person struct {
	Name  string
	Email string
	Role  string // in the current tenant: "Owner"
}

// TenantChoice is a tenant that the person may switch to.
type TenantChoice struct {
	Slug string
	Name string
}

// Can is what the person may do here. A page leaves out what they may not.
type Can struct {
	Sync   bool // members and above: they also run tools, decide approvals and cancel calls
	Manage bool // admins and above: connectors, agents, credentials
	Bodies bool // auditors: arguments and results, where these are for auditors alone
	Audit  bool // admins, owners and auditors: the audit log
	Own    bool // owners: members, API keys, settings
}

// Crumb is one step of the way to a page.
type Crumb struct {
	Text string
	Href string // empty: this page
	Mono bool   // a name from a machine
}

// FlashKind says how a flash is announced.
type FlashKind string

// The kinds of flash.
const (
	FlashNotice FlashKind = "notice" // it happened; announced politely
	FlashAlert  FlashKind = "alert"  // it did not; announced at once
)

// Flash says what the last action did.
type Flash struct {
	Kind FlashKind
	Text string
}

// Assets gives the address of a static file, as web.Asset does. A nil one knows only plain names.
type Assets func(name string) string

func (a Assets) url(name string) string {
	if a == nil {
		return "/static/" + name
	}
	return a(name)
}

func (f Frame) flashIs(kind FlashKind) bool {
	return f.Flash != nil && f.Flash.Kind == kind
}

func (f Frame) current(nav Nav) string {
	if f.Active == nav {
		return "page"
	}
	return "false"
}
