//go:build e2e

package e2e_test

import (
	"net/http"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/testing/browser"
)

// dot is a picture of one pixel.
const dot = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestAServerIsTestedAndSavedInTheBrowser adds a Streamable HTTP server: what it answers to the test, and what it is once it is saved.
func TestAServerIsTestedAndSavedInTheBrowser(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "lamp", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "switch_on", InputSchema: object{"type": "object"}, Icons: []sdk.Icon{{Source: dot}}}, echo)
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
}
