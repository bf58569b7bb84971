package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
)

// Export returns the tenant's connectors as a client's configuration, without secrets. An import of a Generic
// export restores them except for credentials.
func (r *Registry) Export(ctx context.Context, a auth.Actor, client clientconfig.Client) (clientconfig.File, error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return clientconfig.File{}, err
	}
	all, err := r.allConnectors(ctx, a)
	if err != nil {
		return clientconfig.File{}, err
	}
	return clientconfig.Write(client, all), nil
}
