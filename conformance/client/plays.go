package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// plays are what an agent does at the gateway in the scenarios that are about more than a list of tools.
var plays = map[string]func(*agent, context.Context) error{
	"tools_call":                          (*agent).callAll,
	"auth/scope-step-up":                  (*agent).callAll,
	"elicitation-sep1034-client-defaults": (*agent).callAll,
	"sse-retry":                           (*agent).callAll,
	"sep-2322-client-request-state":       (*agent).callAll,
	"http-invalid-tool-headers":           (*agent).callAll,
	"json-schema-2020-12-preservation":    (*agent).echo,
	"http-standard-headers":               (*agent).askEverything,
	"http-custom-headers":                 (*agent).callAsGiven,
}

// callAll calls each tool with what it has to be given.
func (a *agent) callAll(ctx context.Context) error {
	for _, tool := range a.tools {
		if err := a.call(ctx, tool.Name, something(tool)); err != nil {
			return err
		}
	}
	return nil
}

// something are arguments with a value for each property that the tool's schema requires.
func something(tool *mcp.Tool) json.RawMessage {
	var schema struct {
		Properties map[string]struct{ Type string }
		Required   []string
	}
	raw, err := json.Marshal(tool.InputSchema)
	if err == nil {
		err = json.Unmarshal(raw, &schema)
	}
	if err != nil {
		return json.RawMessage(`{}`)
	}
	arguments := map[string]json.RawMessage{}
	for _, name := range schema.Required {
		arguments[name] = values[schema.Properties[name].Type]
	}
	raw, err = json.Marshal(arguments)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

// values are one of each type.
var values = map[string]json.RawMessage{
	"string": json.RawMessage(`"x"`), "number": json.RawMessage(`2`), "integer": json.RawMessage(`2`), "boolean": json.RawMessage(`true`),
	"object": json.RawMessage(`{}`), "array": json.RawMessage(`[]`), "null": json.RawMessage(`null`),
}

// echo hands the schema of one tool back to another.
func (a *agent) echo(ctx context.Context) error {
	for _, tool := range a.tools {
		if tool.Name == "json_schema_2020_12_tool" {
			arguments, err := json.Marshal(map[string]any{"schema": tool.InputSchema})
			if err != nil {
				return err
			}
			return a.call(ctx, "json_schema_echo", arguments)
		}
	}
	return errors.New("the tool is not listed")
}

// askEverything sends each kind of request that there is.
func (a *agent) askEverything(ctx context.Context) error {
	if err := a.callAll(ctx); err != nil {
		return err
	}
	for resource, err := range a.session.Resources(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the resources: %w", err)
		}
		if _, err := a.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: resource.URI}); err != nil {
			return fmt.Errorf("read %s: %w", resource.URI, err)
		}
	}
	for prompt, err := range a.session.Prompts(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the prompts: %w", err)
		}
		if _, err := a.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: prompt.Name}); err != nil {
			return fmt.Errorf("get %s: %w", prompt.Name, err)
		}
	}
	return nil
}

// callAsGiven makes the calls that the suite names.
func (a *agent) callAsGiven(ctx context.Context) error {
	var given struct {
		ToolCalls []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal(a.given, &given); err != nil {
		return fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	for _, c := range given.ToolCalls {
		if err := a.call(ctx, c.Name, c.Arguments); err != nil {
			return err
		}
	}
	return nil
}
