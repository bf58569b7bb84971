package credentials

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// Environment opens the environment of a connector's program. nil: none is stored for its command.
func (r *Resolver) Environment(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) (connectors.Environment, error) {
	e, err := r.store.Vault(tenant).Environment(ctx, c)
	if fault.Is(err, fault.NotFound) {
		return nil, nil //nolint:nilnil // none is an environment, too
	}
	return e, err
}
