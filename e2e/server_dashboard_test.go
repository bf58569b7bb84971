//go:build e2e

package e2e_test

import (
	"net/http"
	"regexp"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/testing/browser"
)

// dot is a picture of one pixel.
const dot = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestAServerIsTestedAndSavedInTheBrowser adds a Streamable HTTP server: what it answers to the test, its session, and what it is
// once it is saved: its tools, prompts and resources.
func TestAServerIsTestedAndSavedInTheBrowser(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "lamp", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "switch_on", InputSchema: object{"type": "object"}, Icons: []sdk.Icon{{Source: dot}}}, echo)
	server.AddPrompt(&sdk.Prompt{Name: "greet", Arguments: []*sdk.PromptArgument{{Name: "name", Required: true}}}, greet)
	server.AddResource(&sdk.Resource{Name: "notes", URI: "file:///notes.txt", MIMEType: "text/plain"}, read)
	server.AddResourceTemplate(&sdk.ResourceTemplate{Name: "any", URITemplate: "file:///{name}"}, read)
	url := serve(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	_, s, tab, _ := seeded(t)
	look := newLooker(t, tab)
	icons := func(within string) {
		if n := browser.Eval[int](tab, `document.querySelectorAll("`+within+` img.tool-icon[src^='data:image/png']").length`); n != 1 {
			t.Errorf("%d icons of tools in %s", n, within)
		}
	}

	tab.Go(s.base + "/connectors/new")
	tab.Fill("[name=name]", "Lamp")
	tab.Fill("[name=url]", url)
	tab.Click("button[formaction^='/connectors/test']")
	tab.WaitText("#test-result", "switch_on")
	tab.WaitText("#test-result", "Protocol")
	if said := tab.Text("#test-result"); !regexp.MustCompile(`Mcp-Session-Id\s\S{8}…`).MatchString(said) {
		t.Errorf("the session is not seen in %s", said)
	}
	icons("#test-result")
	look.at("server-tested")
	tab.Click("main form button[type=submit]:not([formaction])")
	tab.WaitPath("/connectors/lamp/start")
	tab.WaitText(".start-tools", "switch_on")
	icons(".start-tools")
	tab.Go(s.base + "/connectors/lamp")
	tab.WaitText("main", "Protocol")
	tab.WaitText("main", "Session")
	look.at("server-saved")
	tab.Go(s.base + "/connectors/lamp/tools")
	tab.WaitText(".tools", "switch_on")
	icons(".tools")
	look.at("server-tools")
	for page, names := range map[string][]string{"prompts": {"greet"}, "resources": {"file:///notes.txt", "file:///{name}"}} {
		tab.Go(s.base + "/connectors/lamp/" + page)
		for _, name := range names {
			tab.WaitText("main", name)
		}
		look.at("server-" + page)
	}
}
