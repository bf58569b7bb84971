package credentials

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// Entered writes a secret that somebody typed, to try a connector with before it is stored, as headers. A machine's is taken to the
// authorization server for a token. Nothing is stored.
func (r *Resolver) Entered(ctx context.Context, c connectors.Connector, s connectors.Secret) ([]Header, error) {
	if !isMachine(c.Auth.Type) {
		return Headers(c.Auth, s)
	}
	return r.tried(ctx, c, store.GrantTokens{Machine: s})
}

// Trial is Entered with the stored secret of a machine, for settings that are not stored yet. It is nil where there is none.
func (r *Resolver) Trial(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) ([]Header, error) {
	g, err := r.store.Vault(tenant).Grant(ctx, c.ID, nil)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && !alive(c, g.Credential):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r.tried(safehttp.WithTenant(ctx, tenant.String()), c, g.Tokens)
}

func (r *Resolver) tried(ctx context.Context, c connectors.Connector, tokens store.GrantTokens) ([]Header, error) {
	tokens, err := r.machineToken(ctx, c, tokens)
	if err != nil {
		return nil, err
	}
	return bearer(tokens.AccessToken), nil
}
