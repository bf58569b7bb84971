package toolsync

import (
	"context"
	"encoding/json"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/store"
)

// readOrigins returns the origins that people chose for an HTTP API: of its credential and of its endpoints. It returns none
// for an MCP server, and for a first sync of the document that a person saw.
func (r *run) readOrigins(ctx context.Context, st *store.Tenant, first bool) ([]string, error) {
	if r.connector.Transport != connectors.TransportAPI {
		return nil, nil
	}
	if first {
		document, err := st.APIs().DocumentInfo(ctx, r.connector.ID)
		if fault.Is(err, fault.NotFound) || err == nil && !document.ReadAt.After(r.connector.CreatedAt) { // one transaction stored both
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	tools, err := st.APIs().Tools(ctx, r.connector.ID)
	if err != nil {
		return nil, err
	}
	origins := []string{r.connector.CredentialOrigin()}
	for _, t := range tools {
		var e openapi.Endpoint
		if t.Endpoint == nil || json.Unmarshal(t.Endpoint, &e) != nil {
			continue
		}
		if tool, err := e.Tool(); err == nil {
			origins = append(origins, connectors.Origin(tool.Binding.Server))
		}
	}
	return origins, nil
}
