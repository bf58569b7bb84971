package devmcp

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// toolsJSON holds the dozen: one array, served byte for byte.
//
//go:embed tools.json
var toolsJSON []byte

// catalog returns n tools, raw: of the dozen first, made-up ones after them; 0: the dozen.
func catalog(n int) []json.RawMessage {
	var tools []json.RawMessage
	if err := json.Unmarshal(toolsJSON, &tools); err != nil {
		panic(err) // the file is a part of this program
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

// names are the tools' names, to know which can be called.
func names(tools []json.RawMessage) map[string]bool {
	known := map[string]bool{}
	for _, raw := range tools {
		var tool struct{ Name string }
		if json.Unmarshal(raw, &tool) == nil {
			known[tool.Name] = true
		}
	}
	return known
}
