package gateway

import (
	"encoding/json"
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
)

const (
	mcpPath      = "/mcp"
	metadataPath = "/.well-known/oauth-protected-resource"
)

// parseSlug returns the connector's slug in a view from a gateway path; "" for all connectors.
func parseSlug(path string) (slug string, ok bool) {
	rest, ok := strings.CutPrefix(path, mcpPath)
	if !ok || rest == "" || rest == "/" {
		return "", ok
	}
	slug = rest[1:]
	_, isSlug := connectors.CutViewSlug(slug)
	return slug, rest[0] == '/' && isSlug
}

// Route returns the path pattern of a request, for metrics.
func Route(r *http.Request) string {
	rest, metadata := strings.CutPrefix(r.URL.Path, metadataPath)
	pattern := mcpPath
	if rest != "" && strings.Trim(strings.TrimPrefix(rest, mcpPath), "/") != "" {
		pattern += "/{connector}"
	}
	if metadata {
		return metadataPath + pattern
	}
	return pattern
}

// mcpAddress returns the canonical path.
func mcpAddress(path string) string {
	if slug, ok := parseSlug(path); ok && slug != "" {
		return mcpPath + "/" + slug
	}
	return mcpPath
}

// protectedResource is the resource metadata (RFC 9728 section 2).
type protectedResource struct {
	Resource      string   `json:"resource"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	Name          string   `json:"resource_name"`
	Methods       []string `json:"bearer_methods_supported"`
	Documentation string   `json:"resource_documentation"`

	ProofAlgorithms []string `json:"dpop_signing_alg_values_supported"`
	ProofRequired   bool     `json:"dpop_bound_access_tokens_required"` // RFC 9449 section 7.1: plain tokens work, too
}

// serveMetadata names the authorization server and the documentation of tokens. It does not reveal which
// connectors exist.
func (h *Handler) serveMetadata(w http.ResponseWriter, r *http.Request, id string) {
	path := strings.TrimPrefix(r.URL.Path, metadataPath)
	slug, ok := parseSlug(path)
	if path == "" {
		slug, ok = "", true
	}
	switch {
	case !ok:
		h.writeRefusal(w, r, id, fault.Errorf(fault.NotFound, "This URL doesn't exist."))
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		h.writeRefusal(w, r, id, fault.Errorf(fault.BadMethod, "This URL is read-only."))
		return
	}
	resource, name, scopes := h.base+mcpPath, "Patchbay", []string{"mcp"}
	if slug != "" {
		resource += "/" + slug
	}
	if slug == "admin" { // the admin server, where programs act for a member
		name, scopes = "Patchbay (administration)", []string{string(connectors.ScopeAdminRead), string(connectors.ScopeAdmin)}
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Access-Control-Allow-Origin", "*") // public data
	_ = json.NewEncoder(w).Encode(protectedResource{
		Resource: resource, Servers: []string{h.base}, Scopes: scopes, Name: name, Methods: []string{"header"}, Documentation: h.base + "/agents",
		ProofAlgorithms: jws.Algorithms(),
	})
}
