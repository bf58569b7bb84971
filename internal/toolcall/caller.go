package toolcall

import (
	"context"
	"log/slog"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/history"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// Options configure a [Caller]. Store, Access, Credentials, Dialer, Target, History and Instance are required.
type Options struct {
	Store       *store.Store
	Access      *access.Keeper
	Credentials *credentials.Resolver
	Dialer      *mcp.Dialer
	// Target is the connector's server as package mcp is told of it, with the headers that authenticate.
	Target func(context.Context, connectors.TenantID, connectors.Connector, []credentials.Header) (mcp.Target, error)
	// Seat is a place for a session with the connector's server, until leave is called; nil: there is room for all.
	Seat     func(context.Context, connectors.TenantID, connectors.Connector) (leave func(), err error)
	History  *history.Writer
	Instance connectors.InstanceID // this process
	BaseURL  string                // where people find Patchbay, without a slash at the end

	// Connect makes a link on which a person mends a missing account of a connector; empty: there is none. nil: nobody makes links.
	Connect func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent) string
	// Ended is told of every call that ended in this process, for the metrics; nil: nobody.
	Ended func(connectors.ToolCall)
	Log   *slog.Logger     // nil: nowhere
	Now   func() time.Time // nil: time.Now
}
