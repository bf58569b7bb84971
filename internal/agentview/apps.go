package agentview

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"patchbay/internal/connectors"
)

// UIScheme begins the URIs of UI resources (MCP Apps, SEP-1865). Hosts require it, so exposed URIs keep it:
// ui://<slug>/<the rest of the upstream URI>.
const UIScheme = "ui://"

// maxUILinks bounds the links of a definition. More than three are of members that repeat.
const maxUILinks = 8

// uiLink is the value of a member of a definition's _meta that links to a UI resource.
type uiLink struct {
	byteRange
	uri string
}

// appMeta is what a definition says about apps.
type appMeta struct {
	links    []uiLink
	appsOnly bool // models must not get the tool
	forApps  bool // apps may call the tool
}

// readAppMeta reads the value of a definition's _meta, which begins at the offset in the definition.
func readAppMeta(raw []byte, offset int) appMeta {
	m := appMeta{forApps: true}
	addLink := func(raw []byte, start int) {
		var uri string
		if len(m.links) < maxUILinks && json.Unmarshal(raw, &uri) == nil && strings.HasPrefix(uri, UIScheme) {
			m.links = append(m.links, uiLink{byteRange{start, start + len(raw)}, uri})
		}
	}
	forEachMember(raw, func(name string, value byteRange) {
		part := raw[value.start:value.end]
		switch name {
		case "ui/resourceUri", "openai/outputTemplate": // an older form, and that of another extension
			addLink(part, offset+value.start)
		case "ui":
			forEachMember(part, func(name string, inner byteRange) {
				switch name {
				case "resourceUri":
					addLink(part[inner.start:inner.end], offset+value.start+inner.start)
				case "visibility":
					m.readVisibility(part[inner.start:inner.end])
				}
			})
		}
	})
	return m
}

// readVisibility reads _meta.ui.visibility. Without a list, the tool is for models and apps.
func (m *appMeta) readVisibility(raw []byte) {
	var visibility []string
	if json.Unmarshal(raw, &visibility) == nil && visibility != nil {
		m.appsOnly, m.forApps = !slices.Contains(visibility, "model"), slices.Contains(visibility, "app")
	}
}

// isAppsOnly reports whether models must not get the tool of a definition.
func isAppsOnly(raw []byte) bool {
	m := appMeta{}
	if bytes.Contains(raw, []byte(`"visibility"`)) {
		forEachMember(raw, func(name string, value byteRange) {
			if name == "_meta" {
				m = readAppMeta(raw[value.start:value.end], value.start)
			}
		})
	}
	return m.appsOnly
}

// appendExposed appends raw with each range of names replaced by name, and each UI link by its exposed URI.
func appendExposed(to, raw []byte, names []byteRange, name string, links []uiLink, slug string) []byte {
	if slug == "" || len(links) == 0 {
		return appendRenamed(to, raw, names, name)
	}
	type change struct {
		byteRange
		text string
	}
	var changes []change
	for _, r := range names {
		changes = append(changes, change{r, name})
	}
	for _, link := range links {
		changes = append(changes, change{link.byteRange, exposedURI(slug, link.uri)})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.start, b.start) })
	pos := 0
	for _, c := range changes {
		to = append(append(to, raw[pos:c.start]...), quoteJSON(c.text)...)
		pos = c.end
	}
	return append(to, raw[pos:]...)
}

// exposedEntry returns the tool's list entry at the address of all connectors.
func (t *Tool) exposedEntry() listEntry {
	e := t.def.newListEntry(t.Exposed, t.OffersTasks)
	e.slug = t.Connector.Slug
	return e
}

// AppsOnly reports whether a listed tool is for apps only (_meta.ui.visibility). It stays in lists: hosts keep it from models.
func (t *Tool) AppsOnly() bool { return t.def != nil && t.def.app.appsOnly }

// ForApps reports whether apps may call a listed tool.
func (t *Tool) ForApps() bool { return t.def != nil && t.def.app.forApps }

// uiLinkBytes is the estimated memory of a link in a view, without its URI.
const uiLinkBytes = 100

// addUILinks remembers the UI resources of a listed tool, and returns the memory. Servers may leave them out of resources/list.
func (connector *ConnectorView) addUILinks(t *Tool) (added int64) {
	for _, link := range t.def.app.links {
		if connector.uiLinks == nil {
			connector.uiLinks = map[string]bool{}
		}
		if !connector.uiLinks[link.uri] {
			connector.uiLinks[link.uri] = true
			added += uiLinkBytes + int64(len(link.uri))
		}
	}
	return added
}

// HasApps reports whether a listed tool links to a UI resource.
func (connector *ConnectorView) HasApps() bool { return len(connector.uiLinks) > 0 }

// UILinks returns the UI resources that listed tools link to, in order.
func (connector *ConnectorView) UILinks() []string {
	return slices.Sorted(maps.Keys(connector.uiLinks))
}

// HasResource reports whether the server lists a resource, it is a file of an accepted skill, or a listed tool of the agent links
// to it.
func (connector *ConnectorView) HasResource(uri string) bool {
	return len(connector.SkillFiles(uri)) > 0 || connector.uiLinks[uri] || connector.Item(connectors.ItemResource, uri) != nil
}
