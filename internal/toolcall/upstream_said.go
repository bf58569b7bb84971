package toolcall

import (
	"context"
	"errors"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
)

// readUpstream returns what the server of a failed request said, for the history; nil: nothing. Where an account ended or
// could not be renewed, the words of its authorization server come first. Words are left out where the tenant keeps no
// contents. The agent's response does not have them.
func (rec *callRecorder) readUpstream(
	ctx context.Context, v *agentview.View, connector *agentview.ConnectorView, credential *credentials.Credential, err error,
) *connectors.Upstream {
	keepsWords := v.Tenant.CallHistory != connectors.HistoryNone
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Remote != nil && f.Remote.Said != "" {
		u := connectors.UpstreamOf(f.Remote)
		if keepsWords {
			return u
		}
		return u.WithoutSaid()
	}
	remote, source, ok := credentials.FindRemote(err)
	if !ok {
		return nil
	}
	if keepsWords {
		var used credentials.UsedSecrets
		if credential != nil {
			used.Headers = credential.Headers
		}
		remote.Said = rec.o.Credentials.Excerpt(ctx, v.Tenant.ID, connector.Connector, source, used)
	}
	return connectors.UpstreamOf(&remote)
}
