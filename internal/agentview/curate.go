package agentview

import (
	"bytes"
	"cmp"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// agentToolNames maps upstream tool names to the names that agents see, without the prefix. It is nil if no
// tool has an alias.
type agentToolNames map[string]string

func (c agentToolNames) nameFor(name string) string {
	if c == nil {
		return name
	}
	return c[name]
}

func newAgentToolNames(rows []store.AccessTool) agentToolNames {
	if !slices.ContainsFunc(rows, func(row store.AccessTool) bool { return row.Alias != "" }) {
		return nil
	}
	named := make([]connectors.ToolNames, len(rows))
	for i, row := range rows {
		named[i] = connectors.ToolNames{Name: row.Name, Alias: row.Alias, Removed: row.Removed}
	}
	return connectors.AgentNames(named)
}

// originalDefinition returns the accepted definition that d rewrites, or d itself.
func (d *definition) originalDefinition() *definition { return cmp.Or(d.original, d) }

// curateDefinition returns d with an admin's name and description; an empty text keeps d's description. Agents
// share the result.
func (c *Cache) curateDefinition(d *definition, name, text string) *definition {
	return c.deriveDefinition(d, rewriteDefinition(d.raw, name, text))
}

// deriveDefinition returns a definition that is made of d. Agents share it.
func (c *Cache) deriveDefinition(d *definition, raw []byte) *definition {
	hash := connectors.HashDefinition(raw)
	if cached := c.definitions.get(hash); cached != nil && cached.original == d {
		return cached
	}
	derived := c.parseDefinition(hash, raw)
	derived.original = d
	if cached := c.definitions.put(hash, derived); cached.original == d {
		return cached
	}
	return derived // another tool of the server has exactly this definition
}

// rewriteDefinition returns raw with another name and, if text is not empty, another description. Every other
// byte stays.
func rewriteDefinition(raw []byte, name, text string) []byte {
	type change struct {
		byteRange
		text string
	}
	var changes []change
	described := false
	forEachMember(raw, func(member string, value byteRange) {
		switch {
		case member == "name":
			changes = append(changes, change{value, name})
		case member == "description" && text != "":
			changes, described = append(changes, change{value, text}), true
		}
	})
	out, pos := make([]byte, 0, len(raw)+len(name)+len(text)+32), 0
	for _, c := range changes {
		out = append(append(out, raw[pos:c.start]...), quoteJSON(c.text)...)
		pos = c.end
	}
	out = append(out, raw[pos:]...)
	if text == "" || described {
		return out
	}
	brace := bytes.IndexByte(out, '{') + 1 // a definition has a name, so another member follows
	return slices.Insert(out, brace, append(append([]byte(`"description":`), quoteJSON(text)...), ',')...)
}

// quoteJSON encodes text as a JSON string without HTML escapes.
func quoteJSON(text string) []byte { return encodeJSON(text) }
