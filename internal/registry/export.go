package registry

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcpjson"
)

// Export lists the tenant's connectors as a client's file, without any secret. What an export for Generic says, an import makes
// again, but for the credentials.
func (r *Registry) Export(ctx context.Context, a auth.Actor, client mcpjson.Client) (mcpjson.File, error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return mcpjson.File{}, err
	}
	all, err := r.all(ctx, a)
	if err != nil {
		return mcpjson.File{}, err
	}
	return mcpjson.Write(client, all), nil
}
