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

// uriScheme begins the resources' URIs: patchbay://connectors/linear.
const uriScheme = "patchbay://"

type resourceTemplate struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIMEType    string `json:"mimeType"`
}

const mimeJSON = "application/json"

var resourceTemplates = []resourceTemplate{
	{uriScheme + "connectors/{slug}", "connector", "A connector", "A connector with its state and its server's information.", mimeJSON},
	{uriScheme + "agents/{slug}", "agent", "An agent", "An agent with its grants.", mimeJSON},
	{uriScheme + "tools/{connector}/{name}", "tool", "A tool", "A tool's definition and history: changes, their risk, and decisions. Its texts come from the server.", mimeJSON},
}

// resource is a listed resource, named by its slug: display names may be strangers'.
type resource struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	MIMEType string `json:"mimeType"`
}

// Prefixes of the cursors: connectors are listed first, then agents.
const (
	connectorsCursor = "connectors:"
	agentsCursor     = "agents:"
)

// listResources lists connectors, then agents. Tools are too many to list; they have a template.
func (b *backend) listResources(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	at, inAgents := strings.CutPrefix(r.Cursor, agentsCursor)
	if !inAgents {
		var ok bool
		if at, ok = strings.CutPrefix(r.Cursor, connectorsCursor); !ok && r.Cursor != "" {
			return nil, serve.InvalidParams("Invalid cursor.")
		}
	}
	list := b.connectorResources
	if inAgents {
		list = b.agentResources
	}
	found, next, err := list(ctx, at)
	if err != nil {
		return nil, toRPCError(err)
	}
	out := map[string]any{"resources": found}
	if next != "" {
		out["nextCursor"] = next
	}
	return encodeJSON(out)
}

func (b *backend) connectorResources(ctx context.Context, cursor string) (found []resource, next string, err error) {
	got, err := b.h.api.ListConnectors(ctx, client.ListConnectorsQuery{Limit: maxListed, Cursor: cursor})
	found = []resource{}
	for _, c := range got.Items {
		found = append(found, resource{uriScheme + "connectors/" + c.Slug, c.Slug, "The connector " + c.Slug, mimeJSON})
	}
	if err != nil || got.NextCursor != nil {
		return found, connectorsCursor + textOrEmpty(got.NextCursor), err
	}
	agents, next, err := b.agentResources(ctx, "") // many clients read one page alone
	return append(found, agents...), next, err
}

func textOrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (b *backend) agentResources(ctx context.Context, cursor string) (found []resource, next string, err error) {
	got, err := b.h.api.ListAgents(ctx, client.ListAgentsQuery{Limit: maxListed, Cursor: cursor})
	found = []resource{}
	for _, a := range got.Items {
		found = append(found, resource{uriScheme + "agents/" + a.Slug, a.Slug, "The agent " + a.Slug, mimeJSON})
	}
	if got.NextCursor != nil {
		next = agentsCursor + *got.NextCursor
	}
	return found, next, err
}

func (b *backend) readResource(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	found, err := b.findResource(ctx, r.Name)
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusNotFound {
		return nil, resourceNotFound(r)
	}
	if err != nil {
		return nil, toRPCError(err)
	}
	if found == nil {
		return nil, resourceNotFound(r)
	}
	text, err := encodeJSON(found)
	if err != nil {
		return nil, err
	}
	return encodeJSON(map[string]any{"contents": []any{map[string]string{"uri": r.Name, "mimeType": mimeJSON, "text": string(text)}}})
}

// findResource returns what a URI names; nil: nothing.
func (b *backend) findResource(ctx context.Context, uri string) (any, error) {
	path, ok := strings.CutPrefix(uri, uriScheme)
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

func resourceNotFound(r *serve.Request) error {
	const before = -32002
	code := before
	if r.Peer.Modern {
		code = revision.CodeInvalidParams
	}
	data, err := json.Marshal(map[string]string{"uri": r.Name})
	if err != nil {
		return err
	}
	return &serve.RPCError{Code: code, Message: "No such resource.", Data: data}
}

func toRPCError(err error) error {
	says, why, ok := findRefusal(err)
	if !ok {
		return err
	}
	data, marshalErr := json.Marshal(map[string]refusalReason{reasonMember: why})
	if marshalErr != nil {
		return marshalErr
	}
	const refused = -32000
	return &serve.RPCError{Code: refused, Message: says, Data: data}
}
