package toolsync

import (
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
)

// addSaid adds to the failure of an attempt what the server said, for admins.
func (s *Syncer) addSaid(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, a attempt, f *fault.Error) {
	e, ok := errors.AsType[*mcp.Error](f.Err)
	if !ok || f.Remote == nil {
		return
	}
	if a.stored != (connectors.ConnectorID{}) {
		c.ID = a.stored
	}
	used := credentials.UsedSecrets{Env: a.env, Entered: a.entered}
	if a.credential != nil {
		used.Headers = a.credential.Headers
	}
	f.Remote.Said = s.credentials.Excerpt(ctx, tenant, c, credentials.NewSource(e), used)
	f.Remote.ExitStatus = e.ExitCode
}
