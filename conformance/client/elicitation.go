package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// acceptElicitation accepts with the form's defaults, and true for other booleans.
func acceptElicitation(_ context.Context, asked *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	schema, err := json.Marshal(asked.Params.RequestedSchema)
	if err != nil {
		return nil, err
	}
	var form struct {
		Properties map[string]struct {
			Type    string
			Default any
		}
	}
	if err := json.Unmarshal(schema, &form); err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	content := map[string]any{}
	for name, field := range form.Properties {
		switch {
		case field.Default != nil:
			content[name] = field.Default
		case field.Type == "boolean":
			content[name] = true
		}
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}
