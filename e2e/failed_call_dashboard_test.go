//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAFailedCallIsExplainedInTheBrowser has a tool report an error, its server refuse, and a tool take too long. The person reads the
// server's own words.
func TestAFailedCallIsExplainedInTheBrowser(t *testing.T) {
	t.Parallel()
	box := newToolbox(t, &sdk.StreamableHTTPOptions{})
	_, s, tab, c := seeded(t)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Box", "url": box.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/box/sync_tools", nil)
	night := c.hire("night", "box")
	look := newLooker(t, tab)
	for _, fault := range []struct{ tool, says, words, toAgent string }{
		{"fail", "Tool error", "The printer is on fire.", "The printer is on fire."},
		{"break", "The server refused the request.", "out of paper", "out of paper"},
		{"wait", "didn't respond within 1 second", "", "respond within 1 second"},
	} {
		if fault.tool == "wait" {
			c.must(http.StatusOK, http.MethodPatch, "/api/v1/connectors/box", object{"timeout_ms": 1000})
		}
		got := <-night.ask("mcp_box__"+fault.tool, `{}`)
		if told := fmt.Sprintf("%s %+v", got.Result, got.Error); got.err != nil || !strings.Contains(told, fault.toAgent) {
			t.Errorf("%s: the agent is answered %v %s, not %q", fault.tool, got.err, told, fault.toAgent)
		}
		tab.Go(s.base + "/calls?tool=" + fault.tool)
		tab.WaitText("#calls tbody", fault.tool)
		tab.Click("#calls tbody a.cover")
		tab.WaitText("main", fault.says)
		tab.WaitText("main", fault.words)
		look.at("call-failed-" + fault.tool)
	}
}
