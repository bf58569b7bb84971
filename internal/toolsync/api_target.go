package toolsync

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/apiserver"
	"patchbay/internal/apitools"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/openapi"
)

// apiBodyShare is the part of a message that the body of an API's answer may fill: a result has it as text and as structured
// content.
const apiBodyShare = 4

// useAPI makes t lead to the MCP server in this process for a connector that is an HTTP API. Headers and the limit of
// responses of t are those of the API.
func (s *Syncer) useAPI(t *mcp.Target, tenant connectors.TenantID, c connectors.Connector, keys []credentials.Header) {
	source := apitools.Source{Tenant: tenant, APIs: s.store.Tenant(tenant).APIs(), Client: t.HTTP, Cache: &s.apiTools}
	t.HTTP = &http.Client{Transport: apiserver.New(apiserver.Server{
		Title: c.Name, Client: t.HTTP, Credential: apiCredential(c, t.Header, keys), Retries: apiserver.Retries{Max: c.RetryAttempts, Backoff: c.RetryBackoff}, MaxBody: int64(c.ResponseBytes / apiBodyShare),
		Tools: func(ctx context.Context) ([]openapi.Tool, error) { return source.Tools(ctx, c) },
	})}
	t.URL, t.Header, t.Transport, t.Era, t.MaxResponse = apiserver.URL, nil, mcp.JSONOverHTTP, mcp.EraModern, 0
}

// apiCredential returns the headers of a target and the keys that are no headers.
func apiCredential(c connectors.Connector, header http.Header, keys []credentials.Header) apiserver.Credential {
	out := apiserver.Credential{Origin: c.CredentialOrigin(), Header: header}
	for _, key := range keys {
		pair := apiserver.Pair{Name: key.Name, Value: key.Value.Reveal()}
		switch key.In {
		case connectors.KeyInQuery:
			out.Query = append(out.Query, pair)
		case connectors.KeyInCookie:
			out.Cookie = append(out.Cookie, pair)
		default:
			_, key, _ := strings.Cut(pair.Value, " ")
			out.HeaderKeys = append(out.HeaderKeys, key, pair.Value)
		}
	}
	return out
}
