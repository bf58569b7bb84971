package credentials

import (
	"context"

	"patchbay/internal/connectors"
)

// Due reports whether a token is due.
var Due = isDue

// Headers returns the headers of [Resolver.Open].
func (r *Resolver) Headers(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, of Account) ([]Header, error) {
	u, err := r.Open(ctx, tenant, c, of)
	if err != nil {
		return nil, err
	}
	return u.Headers, nil
}
