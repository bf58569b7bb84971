package toolsync

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
)

// Target is a connector's server as package mcp is told of it, for a conversation that is no sync: headers authenticate, and a program
// gets its environment. A program that may not be started (any more) is an Upstream fault.
func (s *Syncer) Target(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, headers []credentials.Header,
) (mcp.Target, error) {
	a := attempt{credential: &credentials.Usable{Headers: headers}}
	if c.Transport == connectors.TransportStdio {
		var err error
		if a.env, err = s.credentials.Environment(ctx, tenant, c); err != nil {
			return mcp.Target{}, err
		}
		if blocked := s.blockedProgram(c, a.env); blocked != nil {
			return mcp.Target{}, blocked
		}
	}
	return s.target(ctx, tenant, c, a), nil
}

// Seat is a place for such a conversation with a program; other servers need none. They have places of their own, for they last: syncs
// do not wait for them.
func (s *Syncer) Seat(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) (leave func(), err error) {
	if c.Transport != connectors.TransportStdio {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return s.lasting.take(ctx, tenant)
}
