package agentview

import (
	"encoding/json"
	"path"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// Item returns a prompt, resource or template that the server lists, granted or not; nil: there is none.
func (connector *ConnectorView) Item(kind connectors.ItemKind, key string) *connectors.Item {
	i := slices.IndexFunc(connector.Items, func(i connectors.Item) bool { return i.Kind == kind && i.Key == key })
	if i < 0 {
		return nil
	}
	return &connector.Items[i]
}

// GrantedItems returns the items of one kind that the agent sees, in the server's order.
func (connector *ConnectorView) GrantedItems(kind connectors.ItemKind) []connectors.Item {
	var items []connectors.Item
	if !connector.Grant.IncludesItems(kind) {
		return nil
	}
	for _, i := range connector.Items {
		if i.Kind == kind && (kind != connectors.ItemResource || connector.offersResource(i.Key)) {
			if files := connector.SkillFiles(i.Key); kind == connectors.ItemResource && len(files) > 0 {
				skill, _ := connector.SkillAt(i.Key)
				i.Raw = listSkillFile(files[0], connectors.DecodeSkill(skill.Definition))
			}
			items = append(items, i)
		}
	}
	return items
}

// listSkillFile returns the list entry of a file of an accepted skill, with name and description of the frontmatter if it is the
// skill's own file; of is empty for others. What the server lists of it was not reviewed.
func listSkillFile(f connectors.SkillFile, of connectors.SkillEntry) []byte {
	entry := map[string]any{"uri": f.URI, "name": path.Base(f.URI), "size": f.Size}
	if name, ok := of.Fields()["name"].(string); ok {
		entry["name"], entry["description"] = name, of.Description()
	}
	if path.Ext(f.URI) == ".md" {
		entry["mimeType"] = "text/markdown"
	}
	raw, _ := json.Marshal(entry) // it always marshals
	return raw
}

// offersResource reports whether a resource can be read: the files of a skill can once they are accepted.
func (connector *ConnectorView) offersResource(uri string) bool {
	return !connector.IsSkillURI(uri) || len(connector.SkillFiles(uri)) > 0
}

// AgentItem is a prompt, resource or template that an agent sees.
type AgentItem struct {
	connectors.Item
	Connector *ConnectorView
	Exposed   string // its name or URI at the address of all connectors
	Usable    bool   // false: the agent is disabled
}

// Items returns the items of one kind that the agent sees, by connector and in the server's order.
func (v *View) Items(kind connectors.ItemKind) []AgentItem {
	var all []AgentItem
	for _, connector := range v.Connectors {
		names := connector.promptNames(v.Agent.NameLimit)
		for _, item := range connector.GrantedItems(kind) {
			exposed := connector.Expose(item.Key)
			if kind == connectors.ItemPrompt {
				exposed = names[item.Key]
			}
			all = append(all, AgentItem{item, connector, exposed, v.Agent.Enabled})
		}
	}
	return all
}

// promptNames returns the exposed names of the connector's prompts by the server's own. Those without a grant have some,
// too, so that a refusal can name the prompt.
func (connector *ConnectorView) promptNames(limit int) map[string]string {
	var keys []string
	for _, item := range connector.Items {
		if item.Kind == connectors.ItemPrompt {
			keys = append(keys, item.Key)
		}
	}
	return connectors.ExposedNamesWithin(limit, connector.Slug, keys)
}

// Permits reports whether the grant includes a prompt, a resource, or the prompt, resource or template of a completion.
// name is the server's own. A resource is listed, is linked to by a tool of the agent,
// or matches a template; a file of a skill is in an accepted one.
func (connector *ConnectorView) Permits(kind connectors.CallKind, name string) bool {
	if connector.HasEnded() {
		return false
	}
	switch kind {
	case connectors.CallPrompt:
		return connector.includesItem(connectors.ItemPrompt, name)
	case connectors.CallResource:
		if connector.IsSkillURI(name) {
			return connector.permitsSkillFile(name)
		}
		return connector.Grant.IncludesItems(connectors.ItemResource) && connector.HasResource(name) || connector.matchesTemplate(name)
	case connectors.CallCompletion:
		return connector.includesItem(connectors.ItemPrompt, name) || connector.includesItem(connectors.ItemResource, name) ||
			connector.includesItem(connectors.ItemTemplate, name)
	}
	return false
}

func (connector *ConnectorView) includesItem(kind connectors.ItemKind, key string) bool {
	return connector.Grant.IncludesItems(kind) && connector.Item(kind, key) != nil
}

// ItemDefect returns why agents are not served a stored item; empty: they are.
func ItemDefect(item connectors.Item) string {
	_, defect := mcp.NormalizeItem(itemLists[item.Kind], item.Raw)
	return defect
}
