package toolsync

import (
	"context"
	"net/http"

	"patchbay/internal/apiserver"
	"patchbay/internal/apitools"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/openapi"
)

// apiBodyShare is the part of a message that the body of an API's answer may fill: a result has it as text and as structured
// content.
const apiBodyShare = 4

// useAPI makes t lead to the MCP server in this process for a connector that is an HTTP API. Headers and the limit of
// responses of t are those of the API.
func (s *Syncer) useAPI(t *mcp.Target, tenant connectors.TenantID, c connectors.Connector) {
	source := apitools.Source{APIs: s.store.Tenant(tenant).APIs(), Client: t.HTTP}
	t.HTTP = &http.Client{Transport: apiserver.New(apiserver.Server{
		Title: c.Name, Client: t.HTTP, Header: t.Header, MaxBody: int64(c.ResponseBytes / apiBodyShare),
		Tools: func(ctx context.Context) ([]openapi.Tool, error) { return source.Tools(ctx, c) },
	})}
	t.URL, t.Header, t.Transport, t.Era, t.MaxResponse = apiserver.URL, nil, mcp.JSONOverHTTP, mcp.EraModern, 0
}
