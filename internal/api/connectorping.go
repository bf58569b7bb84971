package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

type pingInput struct {
	ConnectorPath
	JSON optionalBody[syncRequest]
}

// pingJSON is the result of a ping. A failing server is a result too.
type pingJSON struct {
	OK        bool                    `json:"ok"`
	Server    serverJSON              `json:"server"`
	ConnectMS int64                   `json:"connect_ms" doc:"Time until the session was open. 0 if it was not."`
	PingMS    int64                   `json:"ping_ms" doc:"Time of the ping alone, or of server/discover for 2026-07-28 servers, which have no ping."`
	Error     *connectorTestErrorJSON `json:"error"`
	Upstream  *upstreamSaidJSON       `json:"upstream" doc:"The server's response if it failed. Null if none."`
}

// TransformSchema implements huma.SchemaTransformer.
func (pingJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "error", "upstream")
}

func (h *Handler) pingConnector(ctx context.Context, actor auth.Actor, in *pingInput) (*response[pingJSON], error) {
	req, err := in.JSON.readJSON()
	if err != nil {
		return nil, h.orNotFound(ctx, actor, in.ref(), nil, err)
	}
	var agent *connectors.Ref
	if req.Agent != nil {
		agent = new(connectors.Ref(*req.Agent))
	}
	if err := h.requireUse(ctx, actor, agent); err != nil {
		return nil, err
	}
	report, err := h.sync.Ping(ctx, actor.Tenant.ID, new(actor.Event("connector.test", "")), in.ref(), agent)
	if err != nil {
		return nil, h.withConnectURL(ctx, actor, in.ref(), agent, err)
	}
	return &response[pingJSON]{Body: pingJSON{
		OK: report.Error == nil, Server: viewServer(report.Server), Error: viewTestError(report.Error), Upstream: viewTestUpstream(report.Error),
		ConnectMS: int64(report.Connect / time.Millisecond), PingMS: int64(report.Ping / time.Millisecond),
	}}, nil
}
