package connectors

import "testing"

func TestCompleteURL(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"":                           "",
		"localhost:1234/mcp":         "http://localhost:1234/mcp",
		"127.0.0.1:18090/mcp":        "http://127.0.0.1:18090/mcp",
		"[::1]:9090/mcp":             "http://[::1]:9090/mcp",
		"10.0.0.7/mcp":               "http://10.0.0.7/mcp",
		"mcp-server:8080":            "http://mcp-server:8080",
		"mcp.linear.app/mcp":         "https://mcp.linear.app/mcp",
		"mcp.example.com:8443/mcp":   "https://mcp.example.com:8443/mcp",
		"https://mcp.linear.app/mcp": "https://mcp.linear.app/mcp",
		"ftp://example.com":          "ftp://example.com",
		"not an address":             "not an address",
		"/mcp":                       "/mcp",
	} {
		if have := completeURL(typed); have != want {
			t.Errorf("%q becomes %q, want %q", typed, have, want)
		}
	}
}

func TestSuggestName(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://mcp.linear.app/mcp":     "Linear",
		"https://api.githubcopilot.com/": "Githubcopilot",
		"http://localhost:9090/mcp":      "Localhost",
		"http://127.0.0.1:9090/mcp":      "127.0.0.1",
		"https://mcp.dev":                "Mcp",
		"ftp://example.com":              "",
		"":                               "",
	} {
		if have := suggestName(address); have != want {
			t.Errorf("%q suggests %q, want %q", address, have, want)
		}
	}
}
