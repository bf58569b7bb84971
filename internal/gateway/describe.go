package gateway

import (
	"cmp"
	"context"
	"encoding/json"

	"patchbay/internal/agentview"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/serve"
)

// Describe returns the server info: Patchbay's, or at a connector's own address that of its server, with the
// accepted instructions.
func (b *backend) Describe(_ context.Context, p *serve.Client) serve.Description {
	if b.connector == nil {
		return serve.Description{
			Name:         "patchbay",
			Version:      b.h.version,
			Title:        "Patchbay",
			Instructions: buildInstructions(withoutEnded(b.view.Connectors)) + leanInstructions(b.view),
			Capabilities: allCapabilities(b.view, p),
		}
	}
	c := b.connector.Connector
	if b.connector.PermitsNothing() { // the request waited
		return serve.Description{Name: c.Slug, Version: "unknown", Capabilities: relayCapabilities(b.connector, p)}
	}
	return serve.Description{
		Name:         cmp.Or(c.Server.Name, c.Slug),
		Version:      cmp.Or(c.Server.Version, "unknown"),
		Title:        c.Server.Title,
		Instructions: truncateText(escapeInvisible(c.Instructions().Accepted), maxInstructions),
		Capabilities: relayCapabilities(b.connector, p),
	}
}

// capabilities are MCP server capabilities; nil members are absent.
type capabilities struct {
	Tools       *listCapability            `json:"tools,omitempty"`
	Prompts     *listCapability            `json:"prompts,omitempty"`
	Resources   *listCapability            `json:"resources,omitempty"`
	Completions *struct{}                  `json:"completions,omitempty"`
	Logging     *struct{}                  `json:"logging,omitempty"`
	Tasks       json.RawMessage            `json:"tasks,omitempty"`
	Extensions  map[string]json.RawMessage `json:"extensions,omitempty"`
}

type listCapability struct {
	ListChanged bool `json:"listChanged,omitempty"` // sent by Patchbay, whether or not the upstream does
	Subscribe   bool `json:"subscribe,omitempty"`
}

var listChanged = &listCapability{ListChanged: true}

// upstreamCapabilities parses the capabilities of a connector's server.
func upstreamCapabilities(connector *agentview.ConnectorView) capabilities {
	var c capabilities
	_ = json.Unmarshal(connector.Capabilities, &c) // an invalid document offers nothing
	return c
}

// relayCapabilities returns the upstream capabilities that the gateway relays. Tools are always there, because
// they come from the sync.
func relayCapabilities(connector *agentview.ConnectorView, p *serve.Client) json.RawMessage {
	c := upstreamCapabilities(connector)
	out := capabilities{
		Tools: listChanged, Completions: c.Completions, Logging: c.Logging,
		Extensions: offerSkills(mcp.Extensions(connector.Capabilities, mcp.MaxServerExtensions)),
	}
	if c.Prompts != nil {
		out.Prompts = listChanged
	}
	switch {
	case c.Resources != nil:
		out.Resources = &listCapability{ListChanged: true, Subscribe: c.Resources.Subscribe}
	case declaresSkills(connector): // files of skills are resources
		out.Resources = listChanged
	}
	return out.encodeFor(p)
}

// allCapabilities returns the capabilities at the address of all connectors. Any list may get its first entry
// by a grant.
func allCapabilities(v *agentview.View, p *serve.Client) json.RawMessage {
	out := capabilities{Tools: listChanged, Prompts: listChanged, Resources: listChanged, Logging: &struct{}{}, Extensions: offerSkills(allExtensions(v))}
	for _, connector := range v.Connectors {
		has := upstreamCapabilities(connector)
		out.Completions = cmp.Or(out.Completions, has.Completions)
		if has.Resources != nil && has.Resources.Subscribe {
			out.Resources = &listCapability{ListChanged: true, Subscribe: true}
		}
	}
	return out.encodeFor(p)
}

// handshakeTasks is the capability of tasks in revision 2025-11-25.
const handshakeTasks = `{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`

// encodeFor adds tasks in the form of the client's revision.
func (c capabilities) encodeFor(p *serve.Client) json.RawMessage {
	switch {
	case p.Modern:
		if c.Extensions == nil {
			c.Extensions = map[string]json.RawMessage{}
		}
		c.Extensions[revision.TasksExtension] = []byte("{}")
	case hasHandshakeTasks(p):
		c.Tasks = json.RawMessage(handshakeTasks)
	}
	raw, err := encodeJSON(c)
	if err != nil {
		return []byte("{}")
	}
	return raw
}
