//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/testing/browser"
	"patchbay/internal/testing/pgtest"
)

// newStepping is a server with a tool that sends progress when told, and reports a cancellation.
func newStepping(t *testing.T) (url string, steps chan sdk.ProgressNotificationParams, cancelled chan struct{}) {
	t.Helper()
	steps, cancelled = make(chan sdk.ProgressNotificationParams), make(chan struct{}, 1)
	over := t.Context() // the server ends when no client waits
	server := sdk.NewServer(&sdk.Implementation{Name: "steps", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "step", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for {
				select {
				case step := <-steps:
					step.ProgressToken = r.Params.GetProgressToken()
					if err := r.Session.NotifyProgress(ctx, &step); err != nil {
						return nil, err
					}
				case <-over.Done():
					return nil, over.Err()
				case <-ctx.Done():
					cancelled <- struct{}{}
					return nil, ctx.Err()
				}
			}
		})
	url = serve(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	return url, steps, cancelled
}

// twoReplicas are two processes on one database, filled by `patchbay seed`, a tab at the first, and a client of the second.
func twoReplicas(t *testing.T) (page *server, tab *browser.Tab, c client) {
	t.Helper()
	h := newHome(t)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+pgtest.Empty(t))
	page, other := h.serve(), h.serve()
	tab = browser.Open(t) // after the servers, so that it is closed before they end
	password := h.seed(h.devMCP())
	tab.Go(page.base + "/login")
	tab.Fill("[name=email]", "owner@acorn.example")
	tab.Fill("[name=password]", password)
	tab.Press(kb.Enter)
	tab.WaitPath("/")
	return page, tab, client{t: t, base: other.base, key: h.run("apikey", "create", "--tenant", "acorn", "--role", "admin", "--name", "tests")}
}

// TestACallsProgressMovesWithoutAReload watches a call that another process makes, in the list and on its page, and cancels it there.
func TestACallsProgressMovesWithoutAReload(t *testing.T) {
	t.Parallel()
	url, steps, cancelled := newStepping(t)
	page, tab, c := twoReplicas(t)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Steps", "url": url, "timeout_ms": 300_000})
	c.must(http.StatusOK, http.MethodPost, "/connectors/steps/sync_tools", nil)
	a := c.hire("helper", "steps")
	tab.Go(page.base + "/calls")
	tab.WaitText("main", "No calls in 7 days")
	browser.Eval[bool](tab, `(window.marked = true)`)
	stays := func() {
		t.Helper()
		if !browser.Eval[bool](tab, `window.marked === true`) {
			t.Error("the page was loaded again")
		}
	}

	message, header := modern("tools/call", `"name":"mcp_steps__step","arguments":{}`)
	message = strings.Replace(message, `"_meta":{`, `"_meta":{"progressToken":"mine",`, 1)
	ended := make(chan answered, 1)
	go func() {
		_, _, r, err := a.try(context.WithoutCancel(t.Context()), "/mcp", message, header...)
		ended <- answered{r, err}
	}()
	step := func(done float64, words string) {
		t.Helper()
		select {
		case steps <- sdk.ProgressNotificationParams{Progress: done, Total: 10, Message: words}:
		case early := <-ended:
			t.Fatalf("the call has ended: %+v", early)
		}
	}
	step(3, "copying")
	tab.WaitText("#calls tbody", "3 of 10: “copying”")
	step(4, "copying")
	tab.WaitText("#calls tbody", "4 of 10: “copying”")
	bar := func(within string, want float64) {
		t.Helper()
		if have := browser.Eval[float64](tab, `document.querySelector("`+within+` progress").value`); have != want {
			t.Errorf("the bar in %s is at %v, want %v", within, have, want)
		}
	}
	bar("#calls tbody", 40)
	stays()
	tab.Click("#calls tbody tr:first-child a.cover")
	tab.WaitText("#peek", "4 of 10: “copying”")
	step(5, "copying")
	tab.WaitText("#peek", "5 of 10: “copying”")
	bar("#peek", 50)
	stays()
	tab.Click("[data-peek-close]")
	newLooker(t, tab).at("calls-progress")

	tab.Go(page.base + browser.Eval[string](tab, `document.querySelector("#calls tbody tr:first-child a.cover").getAttribute("href")`))
	tab.WaitText("main", "5 of 10: “copying”")
	browser.Eval[bool](tab, `(window.marked = true)`)
	step(9, "tidying <b>up</b>")
	tab.WaitText("main", "9 of 10: “tidying <b>up</b>”")
	bar("main", 90)
	stays()
	newLooker(t, tab).at("call-progress")
	tab.Click("main form[action$='/cancel'] button")
	tab.WaitText("main", "Call cancelled.")
	select {
	case a := <-ended:
		a.wants(t, "isError")
	case <-time.After(patience):
		t.Fatal("the call goes on")
	}
	select {
	case <-cancelled:
	case <-time.After(patience):
		t.Error("the server was not told")
	}
	tab.WaitText("main", "Last progress")
}
