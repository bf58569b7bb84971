package gateway

import (
	"cmp"
	"context"
	"encoding/json"

	"patchbay/internal/access"
	"patchbay/internal/mcp/serve"
)

// Describe says who the agent talks to: Patchbay, or at a connector's own address its server, as that said it. Its instructions are those
// that were accepted.
func (b *backend) Describe(_ context.Context, p *serve.Peer) serve.Description {
	if b.reach == nil {
		return serve.Description{
			Name:         "patchbay",
			Version:      b.h.version,
			Title:        "Patchbay",
			Instructions: instructions(b.view.Reaches),
			Capabilities: allCapabilities(b.view, p),
		}
	}
	c := b.reach.Connector
	return serve.Description{
		Name:         cmp.Or(c.Server.Name, c.Slug),
		Version:      cmp.Or(c.Server.Version, "unknown"),
		Title:        c.Server.Title,
		Instructions: cut(seen(c.Instructions().Accepted), maxInstructions),
		Capabilities: relayed(offered(b.reach), p),
	}
}

// capabilities are what a server can do, as MCP writes it. What is nil it cannot.
type capabilities struct {
	Tools       *lists                     `json:"tools,omitempty"`
	Prompts     *lists                     `json:"prompts,omitempty"`
	Resources   *lists                     `json:"resources,omitempty"`
	Completions *struct{}                  `json:"completions,omitempty"`
	Logging     *struct{}                  `json:"logging,omitempty"`
	Extensions  map[string]json.RawMessage `json:"extensions,omitempty"`
}

type lists struct {
	ListChanged bool `json:"listChanged,omitempty"` // we tell ourselves, whether or not the server does
	Subscribe   bool `json:"subscribe,omitempty"`
}

// changing is a list that is told of when it changes.
var changing = &lists{ListChanged: true}

// tasksExtension is how calls that take long are named in the modern era.
const tasksExtension = "io.modelcontextprotocol/tasks"

// offered reads what a connector's server said that it can do.
func offered(r *access.Reach) capabilities {
	var c capabilities
	_ = json.Unmarshal(r.Capabilities, &c) // what cannot be read is not offered
	return c
}

// relayed is what of a server's capabilities reaches the agent. There are tools in any case: they are what was synced.
func relayed(c capabilities, p *serve.Peer) json.RawMessage {
	says := capabilities{Tools: changing, Completions: c.Completions, Logging: c.Logging}
	if c.Prompts != nil {
		says.Prompts = changing
	}
	if c.Resources != nil {
		says.Resources = &lists{ListChanged: true, Subscribe: c.Resources.Subscribe}
	}
	return says.encode(p)
}

// allCapabilities is what Patchbay itself can do: any list may get a first entry by a grant.
func allCapabilities(v *access.View, p *serve.Peer) json.RawMessage {
	says := capabilities{Tools: changing, Prompts: changing, Resources: changing, Logging: &struct{}{}}
	for _, r := range v.Reaches {
		has := offered(r)
		says.Completions = cmp.Or(says.Completions, has.Completions)
		if has.Resources != nil && has.Resources.Subscribe {
			says.Resources = &lists{ListChanged: true, Subscribe: true}
		}
	}
	return says.encode(p)
}

// encode adds what is ours: a call that waits for a person is a task for those who can take one.
func (c capabilities) encode(p *serve.Peer) json.RawMessage {
	if p.Modern {
		c.Extensions = map[string]json.RawMessage{tasksExtension: []byte("{}")}
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return []byte("{}")
	}
	return raw
}
