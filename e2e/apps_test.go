//go:build e2e && interop

package e2e_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/testing/browser"
)

// appExample is an example server of MCP Apps.
type appExample struct {
	slug    string // of the connector; the package is server-<slug>
	tool    string // that has the app
	input   string // of the tool, JSON; empty: none. DIR is the directory of the test
	calls   string // the tool that the app calls
	act     string // a script in the app, after which it calls the tool; empty: it does so by itself
	forgive string // what the app writes to the console without a network
	hasFile bool   // the server gets a PDF file
}

// asApp is a script that calls a tool in the name of an app that calls none by itself.
func asApp(tool string) string { return fmt.Sprintf("parent.callAsApp(%q)", tool) }

// clickGetTime clicks the button of the basic examples.
const clickGetTime = `[...document.querySelectorAll("button")].find(b => b.textContent.includes("Get Server Time")).click()`

// appExamples are the published example servers, but for map: its app gets all of its library from cesium.com, and does not start
// without.
var appExamples = []appExample{
	{slug: "basic-preact", tool: "get-time", calls: "get-time", act: clickGetTime},
	{slug: "basic-react", tool: "get-time", calls: "get-time", act: clickGetTime},
	{slug: "basic-solid", tool: "get-time", calls: "get-time", act: clickGetTime},
	{slug: "basic-svelte", tool: "get-time", calls: "get-time", act: clickGetTime},
	{slug: "basic-vanillajs", tool: "get-time", calls: "get-time", act: clickGetTime},
	{slug: "basic-vue", tool: "get-time", calls: "get-time", act: clickGetTime},
	{slug: "budget-allocator", tool: "get-budget-data", calls: "get-budget-data", act: asApp("get-budget-data")},
	{slug: "cohort-heatmap", tool: "get-cohort-data", calls: "get-cohort-data"},
	{slug: "customer-segmentation", tool: "get-customer-data", calls: "get-customer-data"},
	{slug: "debug", tool: "debug-tool", calls: "debug-refresh", act: asApp("debug-refresh")},
	{slug: "pdf", tool: "display_pdf", input: `{"url": "file://DIR/one.pdf"}`, calls: "read_pdf_bytes", hasFile: true},
	{slug: "scenario-modeler", tool: "get-scenario-data", calls: "get-scenario-data", act: asApp("get-scenario-data")},
	{
		slug: "shadertoy", tool: "render-shadertoy", input: `{"fragmentShader": "void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0); }"}`,
		calls: "render-shadertoy", act: asApp("render-shadertoy"), forgive: "GPU stall",
	},
	{slug: "sheet-music", tool: "play-sheet-music", calls: "play-sheet-music", act: asApp("play-sheet-music")},
	{slug: "system-monitor", tool: "get-system-info", calls: "poll-system-stats"},
	{slug: "threejs", tool: "show_threejs_scene", calls: "learn_threejs", act: asApp("learn_threejs"), forgive: "GPU stall"},
	{slug: "transcript", tool: "transcribe", calls: "transcribe", act: asApp("transcribe")},
	{
		slug: "video-resource", tool: "play_video", input: `{"videoId": "bunny-1mb"}`, calls: "play_video", act: asApp("play_video"),
		forgive: "Error fetching resource",
	},
	{slug: "wiki-explorer", tool: "get-first-degree-links", calls: "get-first-degree-links", act: asApp("get-first-degree-links")},
}

// lookAtApp is a script with what an app shows.
const lookAtApp = `(() => {
	const seen = [...document.body.querySelectorAll("*")].filter(e => e.checkVisibility() && e.getBoundingClientRect().height > 0);
	return {height: document.documentElement.getBoundingClientRect().height, elements: seen.length, text: document.body.innerText.trim().slice(0, 300)};
})()`

// earlyCalls are warnings of the apps' own package. On a slow machine some apps call a tool before they have connected to the host.
var earlyCalls = []string{"called before connect() completed", "received 'tools/call' before ui/notifications/initialized"}

// TestAppsRenderAndCallTheirServer opens the app of each example at both addresses of the gateway, with another server beside it that has
// apps, in a browser. All calls of the app reach its own server.
func TestAppsRenderAndCallTheirServer(t *testing.T) {
	t.Parallel()
	a := startAppServers(t, appExamples)
	host := openAppHost(t, a.base)
	for i, e := range appExamples {
		// Many have the same tool names, and the same URI of the app.
		beside := appExamples[max(i-1, 0)]
		if i == 0 {
			beside = appExamples[1]
		}
		t.Run(e.slug, func(t *testing.T) {
			a.addConnectors(t, e, beside)
			host.t, host.token = t, a.clientFor(t).hire("host-of-"+e.slug, e.slug, beside.slug).token
			before := len(a.calledTools(t, beside.slug))
			host.wantApp(a, e, "/mcp", "mcp_"+e.slug+"__"+e.tool, i%2 == 0)
			host.wantApp(a, e, "/mcp/"+e.slug, e.tool, i%2 == 1)
			if got := a.calledTools(t, beside.slug)[before:]; len(got) > 0 {
				t.Errorf("the server beside it was asked to call %v", got)
			}
			if i > 0 {
				a.removeConnector(t, beside)
			}
		})
		host.t = t
		for _, text := range append(earlyCalls, e.forgive) {
			if text != "" {
				host.tab.Forgive(text)
			}
		}
	}
}

// wantApp opens an app at an address, and wants it to show something and to call its server.
func (h *appHost) wantApp(a *appServers, e appExample, address, tool string, modern bool) {
	h.t.Helper()
	before := len(a.calledTools(h.t, e.slug))
	h.openApp("app", address, tool, strings.ReplaceAll(cmp.Or(e.input, "{}"), "DIR", a.dir), modern)
	shown := ""
	eventually(h.t, func() error {
		if shown = h.evaluateIn("app", lookAtApp); strings.Contains(shown, `"height":0`) || strings.Contains(shown, `"elements":0`) {
			return fmt.Errorf("the app shows %s", shown)
		}
		if size := browser.Eval[string](h.tab, `JSON.stringify(sizeOf("app"))`); size == "null" {
			return fmt.Errorf("the app reports no size, and shows %s", shown)
		}
		return nil
	})
	if e.act != "" {
		h.evaluateIn("app", e.act)
	}
	eventually(h.t, func() error {
		got := a.calledTools(h.t, e.slug)[before:] // the first may be a late one of the app before
		if i := slices.Index(got, e.tool); i < 0 || !slices.Contains(got[i+1:], e.calls) {
			return fmt.Errorf("%s at %s shows %s, and the server was asked to call %v", e.slug, address, shown, got)
		}
		return nil
	})
	h.closeApp("app")
}

// TestOpenAppsOfTwoServers has apps of two servers with tools of the same name open at once. At the address of all connectors neither
// server is called, because nothing says which app calls. At the addresses of the servers, each call reaches its own server.
func TestOpenAppsOfTwoServers(t *testing.T) {
	t.Parallel()
	react, vue, other := appExamples[1], appExamples[5], appExamples[7]
	a := startAppServers(t, []appExample{react, vue, other})
	a.addConnectors(t, react, vue, other)
	host := openAppHost(t, a.base)
	wantCalls := func(when string, ofReact, ofVue int) {
		t.Helper()
		if got := [2]int{len(a.calledTools(t, react.slug)), len(a.calledTools(t, vue.slug))}; got != [2]int{ofReact, ofVue} {
			t.Errorf("%s, the servers were asked %v times, want %d and %d", when, got, ofReact, ofVue)
		}
	}
	refused := func(id, script, with string) {
		t.Helper()
		if got := host.evaluateIn(id, script); !strings.Contains(got, with) {
			t.Errorf("the app %s gets %s, want %q", id, got, with)
		}
	}

	host.token = a.hire("stranger", react.slug, vue.slug, other.slug).token
	host.openApp("heatmap", "/mcp", "mcp_"+other.slug+"__"+other.tool, "{}", true)
	refused("heatmap", asApp("get-time"), "No tool named")
	wantCalls("after an app called a tool that its server lacks", 0, 0)
	host.closeApp("heatmap")

	host.token = a.hire("both", react.slug, vue.slug).token
	host.openApp("react", "/mcp", "mcp_"+react.slug+"__get-time", "{}", true)
	host.openApp("vue", "/mcp", "mcp_"+vue.slug+"__get-time", "{}", false)
	refused("react", asApp("get-time"), "ambiguous")
	refused("vue", asApp("get-time"), "ambiguous")
	wantCalls("with both apps open at /mcp", 1, 1)
	host.closeApp("react")
	host.closeApp("vue")

	host.openApp("react", "/mcp/"+react.slug, "get-time", "{}", false)
	host.openApp("vue", "/mcp/"+vue.slug, "get-time", "{}", true)
	host.evaluateIn("react", asApp("get-time"))
	wantCalls("after a call of the first app at its own address", 3, 2)
	host.evaluateIn("vue", asApp("get-time"))
	wantCalls("after a call of the second app at its own address", 3, 3)
}
