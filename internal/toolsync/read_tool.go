package toolsync

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
)

// maxToolReads bounds the concurrent ReadTools of a connector: each agent's account reads a list of its own.
const maxToolReads = 4

// ReadTool reads a tool's definition with an account of an agent, and stores nothing: the server may describe the tool differently to others. It
// returns the definition's hash. It fails with NotFound if the server does not list the tool. It waits while maxToolReads are running.
func (s *Syncer) ReadTool(
	ctx context.Context, tenant connectors.TenantID, id connectors.ConnectorID, of credentials.Account, account connectors.CredentialID, name string,
) (connectors.Hash, error) {
	c, err := s.store.Tenant(tenant).Connectors().Get(ctx, connectors.Ref(id.String()))
	if err != nil {
		return connectors.Hash{}, err
	}
	if err := s.toolReads.Acquire(ctx, c.ID); err != nil {
		return connectors.Hash{}, err
	}
	defer s.toolReads.Release(c.ID)
	ctx = safehttp.WithTenant(ctx, tenant.String())
	attempts, err := s.planWith(ctx, tenant, c, of, account)
	if err != nil {
		return connectors.Hash{}, err
	}
	var found []connectors.Definition
	failure := s.useSession(ctx, tenant, c, attempts, func(session *mcp.Session) error {
		list, err := session.Tools(ctx)
		found, _ = toDefinitions(list)
		return err
	})
	if failure != nil {
		return connectors.Hash{}, failure
	}
	for _, d := range found {
		if d.Name == name {
			return d.Hash, nil
		}
	}
	return connectors.Hash{}, fault.Errorf(fault.NotFound, "The server doesn't list the tool to this agent's account.")
}
