package devmcp

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// toolsJSON is an array of twelve tools, served byte for byte.
//
//go:embed tools.json
var toolsJSON []byte

// Tools returns the definitions of the twelve tools.
func Tools() []json.RawMessage { return newCatalog(0) }

// newCatalog returns n tools: the twelve first, generated ones after them; 0: the twelve.
func newCatalog(n int) []json.RawMessage {
	var tools []json.RawMessage
	if err := json.Unmarshal(toolsJSON, &tools); err != nil {
		panic(err) // the file is embedded
	}
	if n <= 0 {
		return tools
	}
	for i := len(tools); i < n; i++ {
		tools = append(tools, json.RawMessage(fmt.Sprintf(
			`{"name":"lookup_%03d","title":"Look up table %d","description":"Returns a row of table %d by its key.",`+
				`"inputSchema":{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]},`+
				`"annotations":{"readOnlyHint":true}}`, i, i, i)))
	}
	return tools[:n]
}

// toolNames returns the set of names that can be called.
func toolNames(tools []json.RawMessage) map[string]bool {
	known := map[string]bool{}
	for _, raw := range tools {
		var tool struct{ Name string }
		if json.Unmarshal(raw, &tool) == nil {
			known[tool.Name] = true
		}
	}
	return known
}
