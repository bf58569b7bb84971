package gateway_test

import (
	"net/http/httptest"
	"testing"

	"patchbay/internal/gateway"
)

func TestRoute_HasFewPatterns(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"/mcp": "/mcp", "/mcp/": "/mcp", "/mcp/one": "/mcp/{connector}", "/mcp/%20": "/mcp/{connector}", "/mcp/a/b": "/mcp/{connector}",
		"/.well-known/oauth-protected-resource":         "/.well-known/oauth-protected-resource/mcp",
		"/.well-known/oauth-protected-resource/mcp/one": "/.well-known/oauth-protected-resource/mcp/{connector}",
	} {
		if got := gateway.Route(httptest.NewRequest("POST", address, nil)); got != want {
			t.Errorf("%s is %s", address, got)
		}
	}
}
