package openapitest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"patchbay/internal/agentview"
	"patchbay/internal/mcp/ajv"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/openapi"
)

// definitionParts are the parts of a definition that clients look at.
type definitionParts struct {
	Name, Title, Description               string
	InputSchema, OutputSchema, Annotations json.RawMessage
}

// checkArguments checks arguments as the gateway does, which accepts what it cannot check: patterns that look ahead.
func checkArguments(ctx context.Context, definition, arguments json.RawMessage) error {
	var d definitionParts
	if err := json.Unmarshal(definition, &d); err != nil {
		return err
	}
	err := agentview.CompileSchema(d.InputSchema).Check(ctx, arguments)
	if err != nil && strings.Contains(err.Error(), "too large or deep to check") && len(agentview.UncheckedParts(d.InputSchema)) > 0 {
		return nil
	}
	return err
}

// CheckTool checks a definition as clients and the formats of providers do.
func CheckTool(tool *openapi.Tool) error {
	var d definitionParts
	if err := json.Unmarshal(tool.Definition, &d); err != nil {
		return err
	}
	if d.Name != tool.Name || len(d.Name) > 64 || d.Description == "" {
		return fmt.Errorf("the name %q or the description is not usable", d.Name)
	}
	var root struct{ Properties map[string]map[string]any } // as the TypeScript SDK reads it
	if err := json.Unmarshal(d.InputSchema, &root); err != nil {
		return fmt.Errorf("the TypeScript SDK does not read the input schema: %w", err)
	}
	if d.OutputSchema != nil && !ajv.Compiles(d.OutputSchema) {
		return fmt.Errorf("the TypeScript SDK does not compile the output schema")
	}
	list := []toolfmt.Tool{{Name: d.Name, Title: d.Title, Description: d.Description, InputSchema: d.InputSchema, Annotations: d.Annotations, Definition: tool.Definition}}
	for _, format := range []toolfmt.Format{toolfmt.OpenAI, toolfmt.Anthropic, toolfmt.Google} {
		out := toolfmt.Definitions(format, list)
		if len(out) != 1 || !json.Valid(out[0]) || strings.Contains(string(out[0]), "parameters are not listed") {
			return fmt.Errorf("%s has no parameters", format)
		}
	}
	return nil
}
