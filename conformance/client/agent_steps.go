package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agentSteps are the agent's actions in scenarios that test more than the tool list.
var agentSteps = map[string]func(*gatewayAgent, context.Context) error{
	"tools_call":                          (*gatewayAgent).callAll,
	"auth/scope-step-up":                  (*gatewayAgent).callAll,
	"elicitation-sep1034-client-defaults": (*gatewayAgent).callAll,
	"sse-retry":                           (*gatewayAgent).callAll,
	"sep-2322-client-request-state":       (*gatewayAgent).callAll,
	"http-invalid-tool-headers":           (*gatewayAgent).callAll,
	"json-schema-2020-12-preservation":    (*gatewayAgent).echoSchema,
	"http-standard-headers":               (*gatewayAgent).askEverything,
	"http-custom-headers":                 (*gatewayAgent).callAsGiven,
	"sep-2640-client-verify-digest":       (*gatewayAgent).loadSkill,
	"sep-2640-client-verify-size":         (*gatewayAgent).loadSkill,
	"sep-2640-client-verify-frontmatter":  (*gatewayAgent).loadSkill,
}

// callAll calls each tool with its required arguments.
func (a *gatewayAgent) callAll(ctx context.Context) error {
	for _, tool := range a.tools {
		if err := a.callTool(ctx, tool.Name, sampleArguments(tool)); err != nil {
			return err
		}
	}
	return nil
}

// sampleArguments returns arguments with a value for each required property.
func sampleArguments(tool *mcp.Tool) json.RawMessage {
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

// values holds a sample of each JSON type.
var values = map[string]json.RawMessage{
	"string": json.RawMessage(`"x"`), "number": json.RawMessage(`2`), "integer": json.RawMessage(`2`), "boolean": json.RawMessage(`true`),
	"object": json.RawMessage(`{}`), "array": json.RawMessage(`[]`), "null": json.RawMessage(`null`),
}

// echoSchema passes the schema of one tool to another.
func (a *gatewayAgent) echoSchema(ctx context.Context) error {
	for _, tool := range a.tools {
		if tool.Name == "json_schema_2020_12_tool" {
			arguments, err := json.Marshal(map[string]any{"schema": tool.InputSchema})
			if err != nil {
				return err
			}
			return a.callTool(ctx, "json_schema_echo", arguments)
		}
	}
	return errors.New("the tool is not listed")
}

// askEverything sends every kind of request.
func (a *gatewayAgent) askEverything(ctx context.Context) error {
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

// loadSkill reads the skill of the scenarios as a host does: another file of it only after its SKILL.md. Those that tamper with the
// SKILL.md expect that Patchbay refuses it.
func (a *gatewayAgent) loadSkill(ctx context.Context) error {
	const root = "skill://pdf-processing/"
	_, err := a.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: root + "SKILL.md"})
	if err != nil {
		return nil //nolint:nilerr // refused, as expected
	}
	_, err = a.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: root + "references/FORMS.md"})
	return errors.Join(errors.New("the tampered SKILL.md was served"), err)
}

// callAsGiven makes the calls in MCP_CONFORMANCE_CONTEXT.
func (a *gatewayAgent) callAsGiven(ctx context.Context) error {
	var given struct {
		ToolCalls []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal(a.context, &given); err != nil {
		return fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	for _, c := range given.ToolCalls {
		if err := a.callTool(ctx, c.Name, c.Arguments); err != nil {
			return err
		}
	}
	return nil
}
