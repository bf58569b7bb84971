package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"patchbay/internal/mcp"
)

// player plays a scenario in an open session.
type player struct {
	session *mcp.Session
	given   []byte // MCP_CONFORMANCE_CONTEXT
	tools   []mcp.Tool
}

// play lists the tools, as every client does, and then does what the scenario is about.
func (p *player) play(ctx context.Context, name string) error {
	list, err := p.session.Tools(ctx)
	if err != nil {
		return err
	}
	p.tools = list.Tools
	switch name {
	case "tools_call":
		return p.callAll(ctx, json.RawMessage(`{"a":2,"b":3}`))
	case "elicitation-sep1034-client-defaults", "sse-retry", "sep-2322-client-request-state", "http-invalid-tool-headers":
		return p.callAll(ctx, json.RawMessage(`{"value":"x"}`))
	case "json-schema-2020-12-preservation":
		return p.echo(ctx)
	case "http-standard-headers":
		return p.askEverything(ctx)
	case "http-custom-headers":
		return p.callAsGiven(ctx)
	}
	return nil
}

func (p *player) callAll(ctx context.Context, arguments json.RawMessage) error {
	for _, tool := range p.tools {
		if err := p.call(ctx, tool.Name, arguments); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) call(ctx context.Context, name string, arguments json.RawMessage) error {
	result, err := p.session.Call(ctx, mcp.Call{Name: name, Arguments: arguments, InputSchema: p.schema(name), Answer: answer})
	switch {
	case err != nil:
		return fmt.Errorf("call %s: %w", name, err)
	case result.IsError || result.InputRequired != nil || result.Task != nil:
		return fmt.Errorf("call %s: not done", name)
	}
	return nil
}

// schema is a tool's inputSchema, byte for byte.
func (p *player) schema(name string) json.RawMessage {
	for _, tool := range p.tools {
		if tool.Name == name {
			var fields struct{ InputSchema json.RawMessage }
			_ = json.Unmarshal(tool.Raw, &fields) // its schema is known to be an object
			return fields.InputSchema
		}
	}
	return nil
}

// echo hands the schema of one tool back to another.
func (p *player) echo(ctx context.Context) error {
	schema := p.schema("json_schema_2020_12_tool")
	if schema == nil {
		return errors.New("the tool is not listed")
	}
	return p.call(ctx, "json_schema_echo", json.RawMessage(`{"schema":`+string(schema)+`}`))
}

// askEverything sends each kind of request that there is.
func (p *player) askEverything(ctx context.Context) error {
	if err := p.callAll(ctx, nil); err != nil {
		return err
	}
	if err := p.askFor(ctx, mcp.Resources, "uri", "resources/read"); err != nil {
		return err
	}
	return p.askFor(ctx, mcp.Prompts, "name", "prompts/get")
}

// askFor lists a kind, and then asks for each item by its key.
func (p *player) askFor(ctx context.Context, kind mcp.ListKind, key, method string) error {
	list, err := p.session.List(ctx, kind)
	if err != nil {
		return err
	}
	for _, item := range list.Items {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(item, &fields); err != nil {
			return fmt.Errorf("read one of the %s: %w", kind, err)
		}
		params := fmt.Sprintf(`{%q:%s}`, key, fields[key])
		if _, err := p.session.Request(ctx, method, json.RawMessage(params)); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	return nil
}

// callAsGiven makes the calls that the suite names.
func (p *player) callAsGiven(ctx context.Context) error {
	var given struct {
		ToolCalls []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal(p.given, &given); err != nil {
		return fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	for _, c := range given.ToolCalls {
		if err := p.call(ctx, c.Name, c.Arguments); err != nil {
			return err
		}
	}
	return nil
}
