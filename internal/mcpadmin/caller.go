package mcpadmin

import (
	"net/url"

	"patchbay/client"
)

// caller is the environment of a tool call: the API and the handler. The actor is in the context.
type caller struct {
	*client.Client
	h *Handler
}

func (c *caller) pageURL(parts ...string) string {
	return c.h.base.JoinPath(escapePath(parts)...).String()
}

func escapePath(parts []string) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = url.PathEscape(p)
	}
	return out
}
