package main

import (
	"encoding/json"
	"fmt"

	"patchbay/internal/mcp"
)

// answer fills in a form as a friendly person would: with what it proposes, and yes to every other question.
func answer(asked mcp.InputRequest) (json.RawMessage, error) {
	if asked.Method != "elicitation/create" {
		return nil, fmt.Errorf("nobody here answers %q", asked.Method)
	}
	var form struct {
		RequestedSchema struct {
			Properties map[string]struct {
				Type    string
				Default json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(asked.Params, &form); err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	content := map[string]json.RawMessage{}
	for name, field := range form.RequestedSchema.Properties {
		switch {
		case field.Default != nil:
			content[name] = field.Default
		case field.Type == "boolean":
			content[name] = json.RawMessage("true")
		}
	}
	return json.Marshal(map[string]any{"action": "accept", "content": content})
}
