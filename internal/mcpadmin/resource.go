package mcpadmin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"patchbay/client"
	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/serve"
)

// scheme begins the URIs of our resources: patchbay://connectors/linear.
const scheme = "patchbay://"

// template is a kind of resource.
type template struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIMEType    string `json:"mimeType"`
}

const mimeJSON = "application/json"

var templates = []template{
	{scheme + "connectors/{slug}", "connector", "A connector", "A connector with its state, and what its server says of itself.", mimeJSON},
	{scheme + "agents/{slug}", "agent", "An agent", "An agent with what it was granted.", mimeJSON},
	{scheme + "tools/{connector}/{name}", "tool", "A tool", "A tool's definition, with its history: what changed, how risky that is, and what was decided. Its words are the server's.", mimeJSON},
}

// resource is one that is listed, by its slug: names may be strangers'.
type resource struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	MIMEType string `json:"mimeType"`
}

// Cursors of the list of resources: the connectors come first, then the agents.
const (
	amongConnectors = "connectors:"
	amongAgents     = "agents:"
)

// resources lists the connectors and then the agents. Tools are found by their template: there are too many to be listed.
func (b *backend) resources(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	at, inAgents := strings.CutPrefix(r.Cursor, amongAgents)
	if !inAgents {
		var ok bool
		if at, ok = strings.CutPrefix(r.Cursor, amongConnectors); !ok && r.Cursor != "" {
			return nil, serve.InvalidParams("The cursor is none of this list.")
		}
	}
	list := b.connectorResources
	if inAgents {
		list = b.agentResources
	}
	found, next, err := list(ctx, at)
	if err != nil {
		return nil, asRPC(err)
	}
	out := map[string]any{"resources": found}
	if next != "" {
		out["nextCursor"] = next
	}
	return encoded(out)
}

func (b *backend) connectorResources(ctx context.Context, cursor string) (found []resource, next string, err error) {
	got, err := b.h.api.ListConnectors(ctx, client.ListConnectorsQuery{Limit: mostListed, Cursor: cursor})
	found = []resource{}
	for _, c := range got.Items {
		found = append(found, resource{scheme + "connectors/" + c.Slug, c.Slug, "The connector " + c.Slug, mimeJSON})
	}
	if err != nil || got.NextCursor != nil {
		return found, amongConnectors + pointed(got.NextCursor), err
	}
	agents, next, err := b.agentResources(ctx, "") // many clients read one page alone
	return append(found, agents...), next, err
}

func pointed(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (b *backend) agentResources(ctx context.Context, cursor string) (found []resource, next string, err error) {
	got, err := b.h.api.ListAgents(ctx, client.ListAgentsQuery{Limit: mostListed, Cursor: cursor})
	found = []resource{}
	for _, a := range got.Items {
		found = append(found, resource{scheme + "agents/" + a.Slug, a.Slug, "The agent " + a.Slug, mimeJSON})
	}
	if got.NextCursor != nil {
		next = amongAgents + *got.NextCursor
	}
	return found, next, err
}

// read reads a resource.
func (b *backend) read(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	whole, err := b.resource(ctx, r.Name)
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusNotFound {
		return nil, noResource(r)
	}
	if err != nil {
		return nil, asRPC(err)
	}
	if whole == nil {
		return nil, noResource(r)
	}
	text, err := encoded(whole)
	if err != nil {
		return nil, err
	}
	return encoded(map[string]any{"contents": []any{map[string]string{"uri": r.Name, "mimeType": mimeJSON, "text": string(text)}}})
}

// resource finds what a URI names; nil: it names nothing.
func (b *backend) resource(ctx context.Context, uri string) (any, error) {
	path, ok := strings.CutPrefix(uri, scheme)
	parts := strings.Split(path, "/")
	for i := range parts {
		var err error
		if parts[i], err = url.PathUnescape(parts[i]); err != nil || parts[i] == "" {
			ok = false
		}
	}
	c := &caller{Client: b.h.api, h: b.h}
	switch {
	case !ok:
	case len(parts) == 2 && parts[0] == "connectors":
		got, err := c.GetConnector(ctx, parts[1])
		return viewConnector(c, got), err
	case len(parts) == 2 && parts[0] == "agents":
		got, err := c.GetAgent(ctx, parts[1])
		if err != nil {
			return nil, err
		}
		return viewAgent(ctx, c, got)
	case len(parts) == 3 && parts[0] == "tools":
		return readTool(ctx, c, parts[1], parts[2])
	}
	return nil, nil
}

// noResource says that there is none, in the words of the peer's era.
func noResource(r *serve.Request) error {
	const before = -32002
	code := before
	if r.Peer.Modern {
		code = revision.CodeInvalidParams
	}
	data, err := json.Marshal(map[string]string{"uri": r.Name})
	if err != nil {
		return err
	}
	return &serve.RPCError{Code: code, Message: "There is no such resource here.", Data: data}
}

// asRPC is what the API refuses where there is no result that could say so.
func asRPC(err error) error {
	says, why, ok := refusalOf(err)
	if !ok {
		return err
	}
	data, marshalErr := json.Marshal(map[string]reason{reasonMember: why})
	if marshalErr != nil {
		return marshalErr
	}
	const refused = -32000
	return &serve.RPCError{Code: refused, Message: says, Data: data}
}
