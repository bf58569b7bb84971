package toolsync

import (
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
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

// addTokenSaid adds to the failure of a token request what the authorization server said, for admins. The failure itself may
// be shared with other requests.
func (s *Syncer) addTokenSaid(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	failed, said := errors.AsType[*oauth.Error](err)
	if !ok || !said || f.Remote != nil {
		return err
	}
	told := *f
	told.Remote = newSignInRemote(failed)
	told.Remote.Said = s.credentials.Excerpt(ctx, tenant, c, credentials.NewResponseSource(failed), credentials.UsedSecrets{})
	return &told
}
