package mcpadmin

import (
	"context"
	"encoding/json"
	"strings"

	"patchbay/client"
	"patchbay/internal/mcp/serve"
)

// completeArgument completes slugs. Tools are not completed: their names are the servers'.
func (b *backend) completeArgument(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	var params struct {
		Ref      struct{ Type, Name, URI string }
		Argument struct{ Name, Value string }
	}
	if json.Unmarshal(r.Params, &params) != nil || params.Ref.Type != "ref/prompt" && params.Ref.Type != "ref/resource" {
		return nil, serve.InvalidParams("Completion parameters must be an object with ref and argument.")
	}
	var found []resource
	var err error
	switch {
	case params.Argument.Name == "agent", params.Ref.URI == resourceTemplates[1].URITemplate:
		found, _, err = b.agentResources(ctx, "")
	case params.Argument.Name == "connector", params.Ref.URI == resourceTemplates[0].URITemplate:
		found, err = b.findConnectors(ctx, params.Argument.Value)
	}
	if err != nil {
		return nil, toRPCError(err)
	}
	values := []string{}
	for _, one := range found {
		if strings.HasPrefix(one.Name, params.Argument.Value) {
			values = append(values, one.Name)
		}
	}
	return encodeJSON(map[string]any{"completion": map[string]any{"values": values, "hasMore": len(found) == maxListed}})
}

func (b *backend) findConnectors(ctx context.Context, part string) ([]resource, error) {
	got, err := b.h.api.ListConnectors(ctx, client.ListConnectorsQuery{Limit: maxListed, Q: part})
	found := make([]resource, len(got.Items))
	for i, c := range got.Items {
		found[i] = resource{Name: c.Slug}
	}
	return found, err
}
