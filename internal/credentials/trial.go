package credentials

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// HeadersFor turns an unsaved secret into headers, to test a connector. A machine's secret requests a token.
// Nothing is stored.
func (r *Resolver) HeadersFor(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, s connectors.Secret) ([]Header, error) {
	if !isMachine(c.Auth.Type) {
		return Headers(c.Auth, s)
	}
	return r.requestTrialToken(ctx, tenant, c, store.GrantTokens{Machine: s})
}

// HeadersForDraft is HeadersFor with a machine's stored secret, for unsaved settings. nil: none is stored.
func (r *Resolver) HeadersForDraft(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) ([]Header, error) {
	g, err := r.store.Vault(tenant).Grant(ctx, c.ID, nil)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && !isUsable(c, g.Credential):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r.requestTrialToken(safehttp.WithTenant(ctx, tenant.String()), tenant, c, g.Tokens)
}

func (r *Resolver) requestTrialToken(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, tokens store.GrantTokens) ([]Header, error) {
	tokens, err := r.requestMachineToken(ctx, tenant, c, tokens)
	if err != nil {
		return nil, err
	}
	return tokenHeaders(tokens)
}
