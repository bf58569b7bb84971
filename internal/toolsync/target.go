package toolsync

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
)

// syncCapabilities are those of syncs. Some servers list UI tools only for clients of MCP Apps.
var syncCapabilities = []byte(`{"extensions":{"` + revision.UIExtension + `":` + revision.UISettings + `}}`)

// Target describes a connector's server to package mcp, for sessions beside syncs: headers authenticate, and a
// program gets its environment. The caller sets the capabilities. A program that the rules forbid is an Upstream fault.
func (s *Syncer) Target(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, headers []credentials.Header,
) (mcp.Target, error) {
	a := attempt{credential: &credentials.Credential{Headers: headers}}
	if c.Transport == connectors.TransportStdio {
		var err error
		if a.env, err = s.credentials.Environment(ctx, tenant, c); err != nil {
			return mcp.Target{}, err
		}
		if blocked := s.checkProgram(c, a.env); blocked != nil {
			return mcp.Target{}, blocked
		}
	}
	t := s.newTarget(ctx, tenant, c, a)
	t.Capabilities = nil
	return t, nil
}

// AcquireCommandSlot waits until a connector's program may run for such a session. These slots are separate from those of
// syncs, for the sessions last. Other transports need none. It waits for half of the connector's timeout, so that it
// fails before the call does: the refusal then names the cause, and not a server that did not respond.
func (s *Syncer) AcquireCommandSlot(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, full func(ofTenant bool)) (release func(), err error) {
	if c.Transport != connectors.TransportStdio {
		return func() {}, nil
	}
	if s.sessionCommandSlots.TryAcquire(tenant) {
		return func() { s.sessionCommandSlots.Release(tenant) }, nil
	}
	full(s.sessionCommandSlots.IsKeyFull(tenant))
	ctx, cancel := context.WithTimeout(ctx, c.Timeout/2)
	defer cancel()
	return acquireProgramSlot(ctx, s.sessionCommandSlots, tenant)
}
