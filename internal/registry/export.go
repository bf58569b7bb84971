package registry

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcpjson"
)

// Export returns the tenant's connectors as a client's configuration, without secrets. An import of a Generic
// export restores them except for credentials.
func (r *Registry) Export(ctx context.Context, a auth.Actor, client mcpjson.Client) (mcpjson.File, error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return mcpjson.File{}, err
	}
	all, err := r.allConnectors(ctx, a)
	if err != nil {
		return mcpjson.File{}, err
	}
	return mcpjson.Write(client, all), nil
}
