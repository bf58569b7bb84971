package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// codeNoResource says in the handshake era that there is no such resource; later it is -32602.
const codeNoResource = -32002

// longestName is how many bytes a prompt's name and a resource's URI may have: servers get them in a header, too.
const longestName = 8 << 10

// tooLong refuses a request for a name or URI that no server should get; nil: it is short enough.
func tooLong(name string) error {
	if len(name) > longestName {
		return serve.InvalidParams("The name or URI is longer than 8 KiB.")
	}
	return nil
}

// prompt gets a prompt from its server, under its own name.
func (b *backend) prompt(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if err := tooLong(r.Name); err != nil {
		return nil, err
	}
	reach, name := b.reach, r.Name
	if reach == nil {
		reach, name = b.view.Prompt(r.Name)
	}
	if reach == nil || reach.Item(connectors.ItemPrompt, name) == nil {
		return nil, serve.InvalidParams(fmt.Sprintf("There is no prompt %q here.", shown(r.Name)))
	}
	return b.query(ctx, r, reach, connectors.CallPrompt, name, to(".name", name))
}

// resource reads a resource from its server, by its own URI. The URIs of the contents are those that the client knows.
func (b *backend) resource(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if err := tooLong(r.Name); err != nil {
		return nil, err
	}
	reach, uri := b.owner(r.Name)
	if reach == nil {
		return nil, noResource(r)
	}
	raw, err := b.query(ctx, r, reach, connectors.CallResource, uri, to(".uri", uri))
	if err != nil || b.reach != nil {
		return raw, err
	}
	return edited(raw, edits{".contents[].uri": func(own string) (string, bool) { return reach.Expose(own), true }})
}

// owner finds whose resource a URI names, and how its server calls it. At the address of all connectors a result of a tool may have
// named it without our scheme: then it is whoever lists it.
func (b *backend) owner(uri string) (*access.Reach, string) {
	if b.reach != nil {
		return b.reach, uri
	}
	if reach, own := b.view.Resource(uri); reach != nil {
		return reach, own
	}
	var found *access.Reach
	for _, reach := range b.view.Reaches {
		if reach.Item(connectors.ItemResource, uri) == nil {
			continue
		}
		if found != nil {
			return nil, ""
		}
		found = reach
	}
	return found, uri
}

func noResource(r *serve.Request) error {
	code := codeNoResource
	if r.Peer.Modern {
		code = mcp.CodeInvalidParams
	}
	data, err := json.Marshal(map[string]string{"uri": r.Name})
	if err != nil {
		return err
	}
	return &serve.RPCError{Code: code, Message: "There is no such resource here.", Data: data}
}

// complete asks a server for what may stand in the argument of a prompt or a template.
func (b *backend) complete(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	var params struct {
		Ref struct{ Type, Name, URI string }
	}
	if err := json.Unmarshal(r.Params, &params); err != nil {
		return nil, serve.InvalidParams("The parameters of a completion are an object with ref and argument.")
	}
	if err := cmp.Or(tooLong(params.Ref.Name), tooLong(params.Ref.URI)); err != nil {
		return nil, err
	}
	reach, name, edit := b.completed(params.Ref.Type, params.Ref.Name, params.Ref.URI)
	if reach == nil {
		return nil, serve.InvalidParams("There is nothing of that name to complete here.")
	}
	return b.query(ctx, r, reach, connectors.CallCompletion, name, edit)
}

// completed finds whose prompt or template a reference names.
func (b *backend) completed(kind, name, uri string) (*access.Reach, string, edits) {
	switch {
	case kind == "ref/prompt" && b.reach != nil:
		return b.reach, name, nil
	case kind == "ref/prompt":
		reach, own := b.view.Prompt(name)
		return reach, own, to(".ref.name", own)
	case kind == "ref/resource":
		reach, own := b.owner(uri)
		return reach, own, to(".ref.uri", own)
	}
	return nil, "", nil
}

// to puts a text into one place.
func to(place, text string) edits {
	return edits{place: func(was string) (string, bool) { return text, was != text }}
}

// query sends a request to a connector's server, its parameters edited.
func (b *backend) query(
	ctx context.Context, r *serve.Request, reach *access.Reach, kind connectors.CallKind, name string, edit edits,
) (json.RawMessage, error) {
	params, err := edited(r.Params, edit)
	if err != nil {
		return nil, serve.InvalidParams("The parameters cannot be read.")
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	r.Tag = id
	raw, err := b.h.caller.Request(ctx, toolcall.Query{
		ID:     connectors.ToolCallID{UUID: id},
		View:   b.view,
		Reach:  reach,
		Kind:   kind,
		Name:   name,
		Shown:  r.Name,
		Method: r.Method,
		Params: params,
		Source: connectors.SourceGateway,
		Token:  &b.token.ID,
		From:   b.from,
		Client: b.client(r),
	})
	if err != nil {
		return nil, refusedRequest(err, b.pageFor(ctx, reach.Connector))
	}
	return raw, nil
}

// task asks for a task that a call became, by the handle that the client was given.
func (b *backend) task(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	raw, err := b.h.caller.TaskRequest(ctx, b.view, b.client(r), r.Method, r.Params)
	if err != nil {
		return nil, refusedRequest(err, noPage)
	}
	return raw, nil
}
