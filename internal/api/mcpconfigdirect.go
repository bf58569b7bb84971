package api

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/handover"
)

// directConfig is the one answer that carries stored secrets: whoever gets it goes to the servers without us.
func (h *Handler) directConfig(ctx context.Context, who auth.Actor, in *mcpConfigInput) (*answer[mcpConfigJSON], error) {
	bundle, err := h.handover.Open(ctx, who, in.ref())
	if err != nil {
		return nil, err
	}
	out := mcpConfigJSON{Unavailable: map[string]unavailableJSON{}}
	servers := map[string]mcpServerJSON{}
	for _, s := range bundle.Servers {
		if s.Fault == nil {
			servers[s.Connector.Slug] = viewServerConfig(s)
			continue
		}
		agent := connectors.Ref(bundle.Agent.ID.String())
		f := fault.As(h.withConnectURL(ctx, who, connectors.Ref(s.Connector.ID.String()), &agent, s.Fault))
		out.Unavailable[s.Connector.Slug] = viewUnavailable(f)
	}
	out.put(in.Client, servers)
	return &answer[mcpConfigJSON]{Body: out}, nil
}

func viewServerConfig(s handover.Server) mcpServerJSON {
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
