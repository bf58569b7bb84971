package api

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentialexport"
	"patchbay/internal/fault"
)

// directConfig is the only response with stored secrets: its reader connects to the servers directly.
func (h *Handler) directConfig(ctx context.Context, actor auth.Actor, in *mcpConfigInput) (*response[mcpConfigJSON], error) {
	bundle, err := h.credentialExport.Open(ctx, actor, in.ref())
	if err != nil {
		return nil, err
	}
	out := mcpConfigJSON{Unavailable: map[string]unavailableJSON{}}
	servers := map[string]mcpServerJSON{}
	for _, s := range bundle.Servers {
		if s.Fault == nil {
			servers[s.Slug] = viewServerConfig(s)
			continue
		}
		agent := connectors.Ref(bundle.Agent.ID.String())
		f := fault.As(h.withConnectURL(ctx, actor, connectors.Ref(s.Connector.ID.String()), &agent, s.Fault))
		out.Unavailable[s.Slug] = viewUnavailable(f)
	}
	out.setServers(in.Client, servers)
	return &response[mcpConfigJSON]{Body: out}, nil
}

func viewServerConfig(s credentialexport.Server) mcpServerJSON {
	headers := maps.Clone(s.Connector.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	for _, header := range s.Headers {
		headers[header.Name] = header.Value.Reveal()
	}
	return mcpServerJSON{Type: "http", URL: s.Connector.URL, Headers: headers}
}

func viewUnavailable(f *fault.Error) unavailableJSON {
	code := cmp.Or(f.Code, f.Type, f.Kind.String())
	out := unavailableJSON{Code: strings.NewReplacer("-", "_", " ", "_").Replace(code), Message: f.Message}
	if f.ConnectURL != "" {
		out.ConnectURL = &f.ConnectURL
	}
	return out
}
