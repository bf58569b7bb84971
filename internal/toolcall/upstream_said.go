package toolcall

import (
	"context"
	"errors"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
)

// readUpstream returns what the server of a failed request said, for the history; nil: nothing. Its words are left out
// where the tenant keeps no contents. The agent's response does not have it.
func (rec *callRecorder) readUpstream(
	ctx context.Context, v *agentview.View, connector *agentview.ConnectorView, credential *credentials.Credential, err error,
) *connectors.Upstream {
	failure, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		return nil
	}
	remote := fault.Remote{HTTPStatus: failure.HTTPStatus, ExitStatus: failure.ExitCode}
	if v.Tenant.CallHistory != connectors.HistoryNone {
		var used credentials.UsedSecrets
		if credential != nil {
			used.Headers = credential.Headers
		}
		remote.Said = rec.o.Credentials.Excerpt(ctx, v.Tenant.ID, connector.Connector, credentials.NewSource(failure), used)
	}
	return connectors.UpstreamOf(&remote)
}
