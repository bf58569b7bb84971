package ctl

import (
	"strings"
	"testing"
)

func TestConnectorTest_NamesCapabilities(t *testing.T) {
	t.Parallel()
	for capabilities, want := range map[string]string{
		`{"tools": {"listChanged": true}, "prompts": {}}`: "Capabilities: prompts, tools.\n",
		`null`: "Capabilities: none.\n",
	} {
		s, out, _ := newAPI(t, `{"ok": true, "tools": [], "prompts": 2, "error": null, "capabilities": `+capabilities+`}`)
		c := connectorTest{serverFlags{URL: "https://server.example/mcp", authFlags: authFlags{Auth: "none"}}}
		if err := c.Run(t.Context(), s); err != nil || !strings.HasSuffix(out.String(), want) || !strings.Contains(out.String(), "Prompts: 2.") {
			t.Errorf("%s: %q, %v", capabilities, out, err)
		}
	}
}
