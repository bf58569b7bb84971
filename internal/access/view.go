package access

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

// View is what one agent may see and call. It never changes.
type View struct {
	Tenant  connectors.Tenant
	Agent   connectors.Agent
	Reaches []*Reach // granted and enabled connectors, by slug
	Tools   []*Tool  // that are listed, by the connector's slug and their own names

	tools   map[string]*Tool // by exposed name; those that are not listed, too
	reaches map[string]*Reach
	prompts map[string]prompt // by exposed name
	lists   [kinds]*list
	watched map[connectors.ConnectorID]bool // granted, enabled or not
	bytes   int64                           // of what is not shared
}

// Reach is one connector of a view.
type Reach struct {
	Connector    connectors.Connector // without its DiscoveredTools
	Grant        connectors.Grant
	Items        []connectors.Item    // prompts, resources and templates, in the server's order
	Allowances   map[string]time.Time // until when a tool may be called without asking, by the upstream's name
	Capabilities json.RawMessage      // that the server named; nil: none
	Tools        []*Tool              // that are listed, by name

	tools  map[string]*Tool // by the upstream's name; those that are not listed, too
	called map[string]*Tool // the same, by the names that they have at the connector's own address; nil: those are the upstream's
	keeper *Keeper
	own    [kinds]lazyList
}

// The codes of Tool.Held.
const (
	HeldReview     = "held"        // it changed; the definition from before is listed, and calls wait for a person's decision
	HeldNew        = "new"         // nobody has accepted it yet
	HeldRejected   = "rejected"    // somebody has refused it
	HeldDisabled   = "disabled"    // it, or its connector, is switched off
	HeldRemoved    = "removed"     // the server does not list it any more
	HeldNotGranted = "not_granted" // the agent was granted other tools of the connector
	HeldMalformed  = "malformed"   // official SDKs refuse its definition; the connector's next sync sets it aside
)

// Tool is a tool as one agent sees it.
type Tool struct {
	Exposed string // the name for the agent
	Name    string // the upstream's
	Called  string // the name at the connector's own address: the upstream's, or an admin's
	Reach   *Reach
	Hash    connectors.Hash // of the definition; zero where the tool is not listed
	Held    string          // why it is not called, a code; empty: it may be
	Asks    bool            // calls wait for a person, unless Reach.Allowances says otherwise
	Quota   connectors.Quota

	QuotaName uuid.UUID // [connectors.QuotaName]; zero where there is no quota

	// Nothing of these is there for a tool that is not listed. They are shared: nobody writes to them.
	Raw          []byte // the accepted definition, byte for byte but for the name and the description where an admin gave others
	Served       []byte // what clients of older revisions get of it, under the exposed name; see [mcp.ConformTool]
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage // nil: none
	Annotations  json.RawMessage // nil: none
	Hints        connectors.Hints

	def *definition
}

// Listed tells whether the agent sees the tool.
func (t *Tool) Listed() bool { return t.def != nil }

// AsksAt tells whether a call waits for a person at that time.
func (t *Tool) AsksAt(now time.Time) bool { return t.Asks && !t.Reach.Allowances[t.Name].After(now) }

// Tool finds a tool by its exposed name; nil: there is none among the connectors that the agent was granted.
func (v *View) Tool(exposed string) *Tool { return v.tools[exposed] }

// Reach finds a granted and enabled connector by its slug; nil: there is none.
func (v *View) Reach(slug string) *Reach { return v.reaches[slug] }

// Tool finds a tool by the upstream's name; nil: there is none.
func (r *Reach) Tool(name string) *Tool { return r.tools[name] }

// Called finds a tool by its name at the connector's own address; nil: there is none.
func (r *Reach) Called(name string) *Tool {
	if r.called == nil {
		return r.tools[name]
	}
	return r.called[name]
}

// resourceScheme begins the URIs of resources: patchbay+<slug>:<the upstream's URI>.
const resourceScheme = "patchbay+"

func exposedURI(slug, uri string) string { return resourceScheme + slug + ":" + uri }

// Resource finds whose resource an exposed URI names, and its URI upstream. The URI may be made from a template: whether there is such
// a resource, the server knows. nil: the agent was granted no such connector.
func (v *View) Resource(exposed string) (r *Reach, uri string) {
	rest, ours := strings.CutPrefix(exposed, resourceScheme)
	slug, uri, whole := strings.Cut(rest, ":")
	if !ours || !whole {
		return nil, ""
	}
	return v.reaches[slug], uri
}

// Expose names a resource of the connector towards the agent.
func (r *Reach) Expose(uri string) string { return exposedURI(r.Connector.Slug, uri) }

type prompt struct {
	reach *Reach
	name  string
}

// Prompt finds whose prompt an exposed name is, and its name upstream; nil: nobody's.
func (v *View) Prompt(exposed string) (r *Reach, name string) {
	p := v.prompts[exposed]
	return p.reach, p.name
}

// Item finds a prompt, a resource or a template of the connector; nil: it was not listed.
func (r *Reach) Item(kind connectors.ItemKind, key string) *connectors.Item {
	i := slices.IndexFunc(r.Items, func(i connectors.Item) bool { return i.Kind == kind && i.Key == key })
	if i < 0 {
		return nil
	}
	return &r.Items[i]
}
