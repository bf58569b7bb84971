package mcpadmin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
)

type tool struct {
	name        string
	title       string
	description string
	permission  connectors.Permission // required of the caller's role, the same as the API's
	operations  []string              // ids of the API operations that it may call
	hints       toolHints
	input       *jsonschema.Schema

	dangerous bool // the API needs the member's own confirmation in a browser; confirm is set

	// confirm returns the question to a person; nil: none is needed.
	confirm func(ctx context.Context, c *caller, arguments json.RawMessage) (question, error)

	output     *jsonschema.Schema
	inputCheck func() *agentview.Schema // compiled at the first call
	run        func(ctx context.Context, c *caller, arguments json.RawMessage) (toolOutput, error)
}

// toolHints are a tool's annotations, all of them stated.
type toolHints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

var readOnlyHints = toolHints{ReadOnly: true, Idempotent: true}

// additiveHints and destructiveHints are the hints of changing tools.
var (
	additiveHints    = toolHints{}
	destructiveHints = toolHints{Destructive: true, Idempotent: true}
)

// toolOutput is a tool's output: a one-sentence summary and the value.
type toolOutput struct {
	summary string
	value   any
}

// newTool adds typed input and output: arguments are decoded into I, and O describes the output.
func newTool[I, O any](t tool, run func(ctx context.Context, c *caller, in I) (O, string, error)) tool {
	t.output = newOutputSchema[O]()
	t.inputCheck = sync.OnceValue(func() *agentview.Schema { return compileSchema(t.input) })
	t.run = func(ctx context.Context, c *caller, arguments json.RawMessage) (toolOutput, error) {
		var in I
		if len(arguments) > 0 {
			if err := json.Unmarshal(arguments, &in); err != nil {
				return toolOutput{}, serve.InvalidParams("The arguments are not valid.")
			}
		}
		out, says, err := run(ctx, c, in)
		return toolOutput{says, out}, err
	}
	return t
}

var tools = slices.Concat(connectorTools, setupTools, accountTools, apiTools, endpointTools, agentTools, grantTools, accessTools, changeTools, callTools, usageTools, auditTools)

// toolsFor returns the tools that a role may use, as listed by MCP.
func toolsFor(role connectors.Role) []listedTool {
	listed := []listedTool{}
	for i := range tools {
		if t := &tools[i]; role.May(t.permission) {
			listed = append(listed, listedTool{t.name, t.title, t.description, t.input, t.output, annotations{t.title, t.hints}})
		}
	}
	return listed
}

type listedTool struct {
	Name         string             `json:"name"`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	InputSchema  *jsonschema.Schema `json:"inputSchema"`
	OutputSchema *jsonschema.Schema `json:"outputSchema"`
	Annotations  annotations        `json:"annotations"`
}

type annotations struct {
	Title string `json:"title"`
	toolHints
}

func findTool(name string) *tool {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return &tools[i]
}

// callTool answers tools/call. A refusal of the API is a result for the model; an invalid call is a JSON-RPC
// error.
func (b *backend) callTool(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	t := findTool(r.Name)
	if t == nil {
		return nil, serve.InvalidParams(fmt.Sprintf("No tool named %s.", quoteName(r.Name)))
	}
	if err := t.inputCheck().Check(ctx, r.Arguments); err != nil {
		return nil, serve.InvalidParams(err.Error())
	}
	if err := b.actor.Require(t.permission); err != nil {
		return b.refusalResult(ctx, err)
	}
	c := &caller{Client: b.h.api, h: b.h}
	if err := b.requireBrowser(ctx, c, r, t); err != nil {
		return b.refusalResult(ctx, err)
	}
	if t.confirm != nil {
		if asks, err := b.requireConfirmation(ctx, c, r, t); err != nil {
			return b.refusalResult(ctx, err)
		} else if asks != nil {
			return asks, nil
		}
		who, err := b.recheckActor(t)
		if err != nil {
			return b.refusalResult(ctx, err)
		}
		ctx = auth.WithActor(ctx, who)
	}
	out, err := t.run(ctx, c, r.Arguments)
	if err != nil {
		return b.refusalResult(ctx, err)
	}
	return newToolResult(out)
}
