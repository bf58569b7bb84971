package gateway

import (
	"encoding/json"
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// The addresses.
const (
	aggregated   = "/mcp"
	metadataPath = "/.well-known/oauth-protected-resource"
)

// slugOf reads an address of the gateway: "" for all connectors.
func slugOf(path string) (slug string, ok bool) {
	rest, ok := strings.CutPrefix(path, aggregated)
	if !ok || rest == "" || rest == "/" {
		return "", ok
	}
	slug = rest[1:]
	return slug, rest[0] == '/' && connectors.ValidSlug(slug)
}

// Route is the pattern of a request's address, for the metrics.
func Route(r *http.Request) string {
	rest, metadata := strings.CutPrefix(r.URL.Path, metadataPath)
	pattern := aggregated
	if rest != "" && strings.Trim(strings.TrimPrefix(rest, aggregated), "/") != "" {
		pattern += "/{connector}"
	}
	if metadata {
		return metadataPath + pattern
	}
	return pattern
}

// mcpAddress is the address that a path means, as clients write it.
func mcpAddress(path string) string {
	if slug, ok := slugOf(path); ok && slug != "" {
		return aggregated + "/" + slug
	}
	return aggregated
}

// protectedResource is what a client needs to know before it has a token (RFC 9728 §2).
type protectedResource struct {
	Resource      string   `json:"resource"`
	Servers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	Name          string   `json:"resource_name"`
	Methods       []string `json:"bearer_methods_supported"`
	Documentation string   `json:"resource_documentation"`
}

// metadata says where tokens come from: from the authorization server beside the gateway, for programs whose person signs in; or a person makes
// one for the agent. It does not tell which connectors there are.
func (h *Handler) metadata(w http.ResponseWriter, r *http.Request, id string) {
	path := strings.TrimPrefix(r.URL.Path, metadataPath)
	slug, ok := slugOf(path)
	if path == "" {
		slug, ok = "", true
	}
	switch {
	case !ok:
		h.refuse(w, r, id, fault.Errorf(fault.NotFound, "There is nothing at this address."))
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		h.refuse(w, r, id, fault.Errorf(fault.BadMethod, "This address is only read."))
		return
	}
	resource, name, scopes := h.base+aggregated, "Patchbay", []string{"mcp"}
	if slug != "" {
		resource += "/" + slug
	}
	if slug == "admin" { // Patchbay about itself, where programs act as the member who let them in
		name, scopes = "Patchbay (administration)", []string{string(connectors.ScopeAdminRead), string(connectors.ScopeAdmin)}
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Access-Control-Allow-Origin", "*") // it is public
	_ = json.NewEncoder(w).Encode(protectedResource{
		Resource: resource, Servers: []string{h.base}, Scopes: scopes, Name: name, Methods: []string{"header"}, Documentation: h.base + "/agents",
	})
}
