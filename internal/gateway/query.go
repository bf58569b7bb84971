package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// codeNoResource is the JSON-RPC code for an unknown resource before 2026-07-28; later it is -32602.
const codeNoResource = -32002

// maxNameBytes bounds prompt names and resource URIs, which servers also get in a header.
const maxNameBytes = 8 << 10

func checkNameLength(name string) error {
	if len(name) > maxNameBytes {
		return serve.InvalidParams("The name or URI is longer than 8 KiB.")
	}
	return nil
}

// getPrompt serves prompts/get with the prompt's upstream name.
func (b *backend) getPrompt(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if err := checkNameLength(r.Name); err != nil {
		return nil, err
	}
	connector, name := b.connector, r.Name
	if connector == nil {
		connector, name = b.view.Prompt(r.Name)
	}
	if connector == nil || connector.Item(connectors.ItemPrompt, name) == nil {
		return nil, serve.InvalidParams(fmt.Sprintf("No prompt named %q.", truncateName(r.Name)))
	}
	raw, err := b.queryUpstream(ctx, r, connector, connectors.CallPrompt, name, replaceAt(".name", name))
	if err != nil {
		return nil, err
	}
	return b.exposeApps(connector, raw, promptResult), nil
}

// readResource serves resources/read with the upstream URI. The URIs of the contents are exposed again. Resources that
// a tool result links to are read under the same rule as others.
func (b *backend) readResource(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if err := checkNameLength(r.Name); err != nil {
		return nil, err
	}
	if raw, isAnswer, err := b.readWholeAnswer(ctx, r); isAnswer {
		return raw, err
	}
	connector, uri := b.findResourceConnector(ctx, r.Name)
	if connector == nil {
		return nil, newNotFoundError(r, nil, noPageURL)
	}
	raw, err := b.queryUpstream(ctx, r, connector, connectors.CallResource, uri, replaceAt(".uri", uri))
	if err == nil {
		b.recordApp(connector, uri)
	}
	if err != nil || b.connector != nil {
		return raw, err
	}
	return mcp.EditStrings(raw, mcp.StringEdits{".contents[].uri": func(own string) (string, bool) { return connector.Expose(own), true }})
}

// findResourceConnector returns the connector and the upstream URI of a resource, granted or not. At the address of all
// connectors, a tool result or an app may contain the server's own URI. Then the only connector that has it is meant.
func (b *backend) findResourceConnector(ctx context.Context, uri string) (*agentview.ConnectorView, string) {
	if b.connector != nil {
		return b.connector, uri
	}
	connector, own := b.view.Resource(uri)
	isKept := strings.HasPrefix(uri, agentview.UIScheme) || strings.HasPrefix(uri, agentview.SkillScheme) // the server's own URI may look so
	if connector != nil && (!isKept || connector.Permits(connectors.CallResource, own)) {
		return connector, own
	}
	if found := b.findListingConnector(ctx, uri); found != nil {
		return found, uri
	}
	return connector, own
}

// newNotFoundError is the error for a resource that the agent cannot read; refusal says why; nil: no server has it.
func newNotFoundError(r *serve.Request, refusal *toolcall.RefusalError, page pageFinder) error {
	code := codeNoResource
	if r.Peer.Modern {
		code = mcp.CodeInvalidParams
	}
	message, fields := "No such resource.", map[string]any{"uri": r.Name}
	if refusal != nil {
		message, fields[reasonMember] = appendPageURL(refusal, page), newReason(refusal, page)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return &serve.RPCError{Code: code, Message: message, Data: data}
}

// newReadError converts the error of a request about a resource. To the client, a resource that the agent may not read is
// none.
func newReadError(r *serve.Request, err error, page pageFinder) error {
	if refusal, ok := toRefusal(err); ok && refusal.Code == toolcall.CodeNotGranted {
		return newNotFoundError(r, refusal, page)
	}
	return newRequestError(err, page)
}

// completeArgument serves completion/complete for a prompt or a template.
func (b *backend) completeArgument(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	var params struct {
		Ref struct{ Type, Name, URI string }
	}
	if err := json.Unmarshal(r.Params, &params); err != nil {
		return nil, serve.InvalidParams("Completion parameters must be an object with ref and argument.")
	}
	if err := cmp.Or(checkNameLength(params.Ref.Name), checkNameLength(params.Ref.URI)); err != nil {
		return nil, err
	}
	connector, name, edit := b.findCompletion(ctx, params.Ref.Type, params.Ref.Name, params.Ref.URI)
	if connector == nil {
		return nil, serve.InvalidParams("Nothing with this name to complete.")
	}
	return b.queryUpstream(ctx, r, connector, connectors.CallCompletion, name, edit)
}

// findCompletion resolves the reference of a completion to a prompt, resource or template that the server lists.
func (b *backend) findCompletion(ctx context.Context, kind, name, uri string) (*agentview.ConnectorView, string, mcp.StringEdits) {
	connector, own, place := b.connector, name, ".ref.name"
	switch kind {
	case "ref/prompt":
		if connector == nil {
			connector, own = b.view.Prompt(name)
		}
		if connector == nil || connector.Item(connectors.ItemPrompt, own) == nil {
			return nil, "", nil
		}
	case "ref/resource":
		place = ".ref.uri"
		connector, own = b.findResourceConnector(ctx, uri)
		if connector == nil || connector.Item(connectors.ItemTemplate, own) == nil && connector.Item(connectors.ItemResource, own) == nil {
			return nil, "", nil
		}
	default:
		return nil, "", nil
	}
	return connector, own, replaceAt(place, own)
}

// replaceAt returns an edit that sets the string at one path.
func replaceAt(place, text string) mcp.StringEdits {
	return mcp.StringEdits{place: func(old string) (string, bool) { return text, old != text }}
}

// queryUpstream sends a request with edited parameters to a connector's server. A nil edit leaves them.
func (b *backend) queryUpstream(
	ctx context.Context, r *serve.Request, connector *agentview.ConnectorView, kind connectors.CallKind, name string, edit mcp.StringEdits,
) (json.RawMessage, error) {
	params := r.Params
	if edit != nil {
		var err error
		if params, err = mcp.EditStrings(r.Params, edit); err != nil {
			return nil, serve.InvalidParams("Can't read the parameters.")
		}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	r.CallID = id
	raw, err := b.h.caller.SendRequest(ctx, toolcall.UpstreamRequest{
		ID:          connectors.ToolCallID{UUID: id},
		View:        b.view,
		Connector:   connector,
		Kind:        kind,
		Name:        name,
		ExposedName: r.Name,
		Method:      r.Method,
		Params:      params,
		Source:      connectors.SourceGateway,
		Token:       &b.token.ID,
		Origin:      b.origin,
		Client:      b.newClient(r),
	})
	switch page := b.pageFor(ctx, connector); {
	case err != nil && kind == connectors.CallResource:
		return nil, newReadError(r, err, page)
	case err != nil:
		return nil, newRequestError(err, page)
	}
	return raw, nil
}
