package mcpadmin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/internal/access"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
)

// tool is one thing that an assistant may do.
type tool struct {
	name  string
	title string
	about string
	may   connectors.Permission // what the caller's role must have; the one that the API wants for the same
	asks  []string              // the operations of the API that it may make, by their ids
	hints hints
	takes *jsonschema.Schema

	dangerous bool // the API wants a person to have confirmed who they are; it has a confirm

	// confirm is what a person is asked before it is done; nil: nothing.
	confirm func(ctx context.Context, c *caller, arguments json.RawMessage) (question, error)

	gives *jsonschema.Schema
	check *access.Schema
	run   func(ctx context.Context, c *caller, arguments json.RawMessage) (outcome, error)
}

// hints are a tool's annotations, each said.
type hints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// reads are the hints of what only looks.
var reads = hints{ReadOnly: true, Idempotent: true}

// adds and destroys are the hints of what changes something: more of it, and with something taken away.
var (
	adds     = hints{}
	destroys = hints{Destructive: true, Idempotent: true}
)

// outcome is what a tool came to: one sentence of ours, and the whole.
type outcome struct {
	says  string
	whole any
}

// as gives a tool its Go types: what it takes is read into I, and what it gives is described by O.
func as[I, O any](t tool, run func(ctx context.Context, c *caller, in I) (O, string, error)) tool {
	t.gives = schemaOf[O]()
	t.check = compiled(t.takes)
	t.run = func(ctx context.Context, c *caller, arguments json.RawMessage) (outcome, error) {
		var in I
		if len(arguments) > 0 {
			if err := json.Unmarshal(arguments, &in); err != nil {
				return outcome{}, serve.InvalidParams("The arguments cannot be read.")
			}
		}
		out, says, err := run(ctx, c, in)
		return outcome{says, out}, err
	}
	return t
}

// tools are all of them, in the order in which they are listed.
var tools = slices.Concat(connectorTools, setupTools, agentTools, grantTools, changeTools, callTools, usageTools, auditTools)

// toolsFor are those that a role may use, as MCP lists them.
func toolsFor(role connectors.Role) []listedTool {
	listed := []listedTool{}
	for i := range tools {
		if t := &tools[i]; role.May(t.may) {
			listed = append(listed, listedTool{t.name, t.title, t.about, t.takes, t.gives, annotations{t.title, t.hints}})
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
	hints
}

func toolNamed(name string) *tool {
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return &tools[i]
}

// call performs a call. What the API refuses is a result that the model reads; what is no call of a tool is an error of the protocol.
func (b *backend) call(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	t := toolNamed(r.Name)
	if t == nil {
		return nil, serve.InvalidParams(fmt.Sprintf("There is no tool %s here.", shown(r.Name)))
	}
	if err := t.check.Check(ctx, r.Arguments); err != nil {
		return nil, serve.InvalidParams(err.Error())
	}
	if err := b.who.Require(t.may); err != nil {
		return b.refused(ctx, err)
	}
	c := &caller{Client: b.h.api, h: b.h}
	if err := b.inBrowser(ctx, c, r, t); err != nil {
		return b.refused(ctx, err)
	}
	if t.confirm != nil {
		if asks, err := b.confirmed(ctx, c, r, t); err != nil {
			return b.refused(ctx, err)
		} else if asks != nil {
			return asks, nil
		}
		who, err := b.stillMay(t)
		if err != nil {
			return b.refused(ctx, err)
		}
		ctx = auth.WithActor(ctx, who)
	}
	out, err := t.run(ctx, c, r.Arguments)
	if err != nil {
		return b.refused(ctx, err)
	}
	return done(out)
}
