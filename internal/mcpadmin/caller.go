package mcpadmin

import (
	"net/url"

	"patchbay/client"
)

// caller is who uses a tool, with all that a tool needs: the API, as which it asks stands in the context.
type caller struct {
	*client.Client
	h *Handler
}

// page is the address of a page of the dashboard.
func (c *caller) page(parts ...string) string {
	return c.h.base.JoinPath(escaped(parts)...).String()
}

func escaped(parts []string) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = url.PathEscape(p)
	}
	return out
}
