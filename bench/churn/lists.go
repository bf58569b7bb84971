package churn

import (
	"encoding/json"
	"fmt"
	"strings"
)

// listKind is one of MCP's lists. Each server has the same names in all of them.
type listKind struct {
	method string // of the request
	member string // of the result: the entries
	key    string // of an entry: its identifier
}

var (
	toolList     = listKind{"tools/list", "tools", "name"}
	promptList   = listKind{"prompts/list", "prompts", "name"}
	resourceList = listKind{"resources/list", "resources", "uri"}
	templateList = listKind{"resources/templates/list", "resourceTemplates", "uriTemplate"}
)

// allLists begins with the tools.
var allLists = []listKind{toolList, promptList, resourceList, templateList}

// ListKinds are the keys of [Report.Lists].
func ListKinds() (kinds []string) {
	for _, k := range allLists {
		kinds = append(kinds, k.reportKey(""), k.reportKey("slug"))
	}
	return kinds
}

// reportKey names the list at /mcp, or with a slug at a connector's own address.
func (k listKind) reportKey(slug string) string {
	if slug == "" {
		return k.method + " at /mcp"
	}
	return k.method + " at /mcp/{connector}"
}

// ownKey is an entry's identifier at its server.
func (k listKind) ownKey(name string) string {
	switch k {
	case resourceList:
		return "churn:///" + name
	case templateList:
		return "churn:///" + name + "/{n}"
	}
	return name
}

// exposedKey is an entry's identifier at /mcp.
func (k listKind) exposedKey(slug, name string) string {
	if k == toolList || k == promptList {
		return exposedName(slug, name)
	}
	return "patchbay+" + slug + ":" + k.ownKey(name)
}

// slotName is the name of the slot that has the connector of a key.
func (k listKind) slotName(exposedKey string) string {
	slug := strings.TrimPrefix(strings.TrimPrefix(exposedKey, "mcp_"), "patchbay+")
	number, _, _ := strings.Cut(slug, "-")
	return number + "-"
}

// newResult is a server's list.
func (k listKind) newResult(versions map[string]string) string {
	var entries []string
	for name, version := range versions {
		entry := fmt.Sprintf(`"name":%q,"description":"Version %s."`, name, version)
		switch k {
		case toolList:
			entry += `,"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}`
		case resourceList, templateList:
			entry += fmt.Sprintf(`,%q:%q`, k.key, k.ownKey(name))
		}
		entries = append(entries, "{"+entry+"}")
	}
	return fmt.Sprintf(`{%q:[%s],"resultType":"complete"}`, k.member, strings.Join(entries, ","))
}

// readResult reads a whole list: versions by key. repeated are keys of several entries.
func (k listKind) readResult(result []byte) (versions map[string]string, repeated []string, ok bool) {
	var members map[string]json.RawMessage
	var entries []map[string]any
	if json.Unmarshal(result, &members) != nil || members["nextCursor"] != nil || json.Unmarshal(members[k.member], &entries) != nil || entries == nil {
		return nil, nil, false
	}
	versions = make(map[string]string, len(entries))
	for _, entry := range entries {
		key, _ := entry[k.key].(string)
		description, _ := entry["description"].(string)
		if _, twice := versions[key]; twice {
			repeated = append(repeated, key)
		}
		versions[key] = strings.TrimSuffix(strings.TrimPrefix(description, "Version "), ".")
	}
	return versions, repeated, true
}
