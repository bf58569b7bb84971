package agentview

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// View is what one agent may see and call. It is immutable.
type View struct {
	Tenant     connectors.Tenant
	Agent      connectors.Agent
	Connectors []*ConnectorView // granted and enabled connectors, by slug
	Tools      []*Tool          // tools of the full list, by the connector's slug and their own names
	Lean       bool             // tools/list is a lean list

	tools             map[string]*Tool // by exposed name, unlisted ones included
	connectors        map[string]*ConnectorView
	prompts           map[string]exposedPrompt // by exposed name
	lists             [kindCount]*servedList
	watchedConnectors map[connectors.ConnectorID]bool // granted, enabled or not
	bytes             int64                           // of memory that is not shared
	cache             *Cache
	search            *toolIndex
	endsAt            time.Time // the next end of a grant, by the process's clock; zero: none
}

// ConnectorView is one connector of a view, with one of the accounts that the grant binds.
type ConnectorView struct {
	Slug         string                  // unique in the view: the connector's slug; with several accounts its [connectors.ViewSlug]
	Connector    connectors.Connector    // without its DiscoveredTools
	Grant        connectors.Grant        // as it was when the view was read: without what had ended
	Account      connectors.CredentialID // that the grant binds; zero: none, or it was not stored
	Items        []connectors.Item       // prompts, resources and templates, granted or not, in the server's order
	Allowances   map[string]time.Time    // until when a tool needs no approval, by upstream name
	Capabilities json.RawMessage         // of the upstream server; nil: none
	Tools        []*Tool                 // listed tools, by name

	granted         connectors.Grant // with what has ended
	lastEndsAt      time.Time        // of all of the grant, by the process's clock; zero: a part has no end
	endsAt          time.Time        // of the grant but for tools with their own ends, by the process's clock; zero: none
	tools           map[string]*Tool // by upstream name, unlisted ones included
	byConnectorName map[string]*Tool // by the name at the connector's own address; nil: the same as tools
	cache           *Cache
	ownLists        [kindCount]lazyList
	itemAllowances  map[connectors.AllowanceKey]time.Time // until when a prompt or a resource needs no approval

	skills                     connectorSkills
	uiLinks                    map[string]bool // UI resources that listed tools link to, by upstream URI; nil: none
	shapes                     bool            // a listed tool has Shaping
	hasTasks, hasTaskExtension bool            // the server declares tasks: of 2025-11-25, of 2026-07-28
}

// Codes of Tool.BlockedBy.
const (
	HeldReview       = "held" // changed: the accepted definition is listed, and calls wait for a review
	BlockedNew       = "new"  // not accepted yet
	HeldRejected     = "rejected"
	BlockedDisabled  = "disabled"    // the tool or its connector is disabled
	BlockedRemoved   = "removed"     // no longer listed by the server
	HeldNotGranted   = "not_granted" // the agent's grant excludes it
	HeldEnded        = "ended"       // the agent's grant of it ended
	BlockedMalformed = "malformed"   // official SDKs reject its definition
)

// Tool is one tool in the view of an agent, served or held.
type Tool struct {
	Exposed       string // the name at the gateway
	Name          string // the upstream's name
	ConnectorName string // the name at the connector's own address: the upstream's, or an admin's alias
	Connector     *ConnectorView
	Hash          connectors.Hash // of the definition; zero for an unlisted tool
	BlockedBy     string          // why it cannot be called, a code; empty: it can
	Pinned        bool            // stays in a lean list
	Tags          []string
	NeedsApproval bool // calls need approval, but for ConnectorView.Allowances
	Quota         connectors.Quota
	End           *time.Time // when the grant of it ends or ended; nil: never
	endsAt        time.Time  // End by the process's clock; zero: none

	QuotaName uuid.UUID // [connectors.QuotaName]; zero without a quota

	// The fields below are zero for an unlisted tool. They are shared and must not be written to.
	Raw          []byte // the accepted definition, with an admin's name and description if set
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage // nil: none
	Annotations  json.RawMessage // nil: none
	Hints        connectors.Hints

	// Shaping shortens the answers; zero: not at all. The definition says so, and declares no output schema: OutputSchema is
	// that of the server.
	Shaping connectors.Shaping

	// TaskSupport is the definition's execution.taskSupport (2025-11-25): [TaskRequired], "optional", "forbidden" or "".
	TaskSupport string
	// OffersTasks: the server can run a call as a task. Tools under review offer them too.
	OffersTasks bool

	def *definition
}

// Values of Tool.TaskSupport. A server that requires a task refuses other calls.
const (
	TaskRequired = "required"
	TaskOptional = "optional"
)

// LacksTasks reports whether every call is refused, because the server requires a task and does not declare tasks.
func (t *Tool) LacksTasks() bool {
	return t.TaskSupport == TaskRequired && !t.OffersTasks && t.Connector.Connector.Era != string(mcp.EraModern)
}

// Listed reports whether the agent sees the tool.
func (t *Tool) Listed() bool { return t.def != nil }

// NeedsApprovalAt reports whether a call at that time needs approval.
func (t *Tool) NeedsApprovalAt(now time.Time) bool {
	return t.NeedsApproval && !t.Connector.Allowances[t.Name].After(now)
}

// ItemNeedsApprovalAt reports whether the use of a prompt or a resource at that time needs approval; agent is the agent's
// mode.
func (connector *ConnectorView) ItemNeedsApprovalAt(agent connectors.ApprovalMode, kind connectors.CallKind, name string, now time.Time) bool {
	key := connectors.AllowanceKey{ConnectorID: connector.Connector.ID, Kind: kind, Tool: name, AccountName: connector.ChosenAccount()}
	return connector.Grant.AsksForItem(agent, kind) && !connector.itemAllowances[key].After(now)
}

// Tool returns a tool of the granted connectors by its exposed name, or nil.
func (v *View) Tool(exposed string) *Tool { return v.tools[exposed] }

// Connector returns a granted and enabled connector by its slug in the view, or nil.
func (v *View) Connector(slug string) *ConnectorView { return v.connectors[slug] }

// HasConnector reports whether a connector with the slug is granted and enabled, with one account or several.
func (v *View) HasConnector(slug string) bool {
	return slices.ContainsFunc(v.Connectors, func(connector *ConnectorView) bool { return connector.Connector.Slug == slug })
}

// ConnectorWith returns a granted and enabled connector by its id, of several accounts the one with that account; nil: there is none.
func (v *View) ConnectorWith(id connectors.ConnectorID, account connectors.CredentialID) *ConnectorView {
	isStored := account != connectors.CredentialID{}
	return v.findConnector(id, func(connector *ConnectorView) bool {
		return connector.ChosenAccount() == "" || isStored && connector.Account == account
	})
}

// ConnectorAs returns the connector of the view as another view of the agent has it: with the same one of several accounts, or with
// the only one; nil: there is none.
func (v *View) ConnectorAs(other *ConnectorView) *ConnectorView {
	return v.findConnector(other.Connector.ID, func(connector *ConnectorView) bool { return connector.ChosenAccount() == other.ChosenAccount() })
}

func (v *View) findConnector(id connectors.ConnectorID, matches func(*ConnectorView) bool) *ConnectorView {
	i := slices.IndexFunc(v.Connectors, func(connector *ConnectorView) bool { return connector.Connector.ID == id && matches(connector) })
	if i < 0 {
		return nil
	}
	return v.Connectors[i]
}

// Tool returns a tool by its upstream name, or nil.
func (connector *ConnectorView) Tool(name string) *Tool { return connector.tools[name] }

// ConnectorName returns a tool by its name at the connector's own address, or nil.
func (connector *ConnectorView) ConnectorName(name string) *Tool {
	if connector.byConnectorName == nil {
		return connector.tools[name]
	}
	return connector.byConnectorName[name]
}

// resourceScheme starts the exposed URIs of resources, but for those of keptSchemes: patchbay+<slug>:<upstream URI>.
const resourceScheme = "patchbay+"

// keptSchemes are those that exposed URIs keep, with the slug in the place of the authority.
var keptSchemes = []string{UIScheme, SkillScheme}

func exposedURI(slug, uri string) string {
	for _, scheme := range keptSchemes {
		if rest, isKept := strings.CutPrefix(uri, scheme); isKept {
			return scheme + slug + "/" + rest
		}
	}
	return resourceScheme + slug + ":" + uri
}

// Resource returns the connector and the upstream URI of an exposed URI; nil without a grant of the connector. The URI
// may be expanded from a template, so the resource need not exist. [ConnectorView.Permits] says whether it may be read.
func (v *View) Resource(exposed string) (connector *ConnectorView, uri string) {
	for _, scheme := range keptSchemes {
		if rest, isKept := strings.CutPrefix(exposed, scheme); isKept {
			slug, own, whole := strings.Cut(rest, "/")
			if !whole {
				return nil, ""
			}
			return v.connectors[slug], scheme + own
		}
	}
	rest, ours := strings.CutPrefix(exposed, resourceScheme)
	slug, uri, whole := strings.Cut(rest, ":")
	if !ours || !whole {
		return nil, ""
	}
	return v.connectors[slug], uri
}

// Expose returns the exposed URI of an upstream URI.
func (connector *ConnectorView) Expose(uri string) string {
	return exposedURI(connector.Slug, uri)
}

type exposedPrompt struct {
	reach *ConnectorView
	name  string
}

// Prompt returns the connector and the upstream name of an exposed prompt, granted or not; nil: there is none.
func (v *View) Prompt(exposed string) (connector *ConnectorView, name string) {
	p := v.prompts[exposed]
	return p.reach, p.name
}
