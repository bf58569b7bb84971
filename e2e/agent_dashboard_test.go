//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/testing/browser"
)

// answered is what became of a request that an agent's client waits for.
type answered struct {
	reply
	err error
}

// ask calls a tool, while the test goes on.
func (a agent) ask(tool, arguments string) <-chan answered {
	a.t.Helper()
	message, header := modern("tools/call", fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
	came := make(chan answered, 1)
	ctx := context.WithoutCancel(a.t.Context())
	go func() {
		_, _, r, err := a.try(ctx, "/mcp", message, header...)
		came <- answered{r, err}
	}()
	return came
}

// wants fails the test unless the answer holds the text.
func (a answered) wants(t *testing.T, text string) {
	t.Helper()
	if a.err != nil || !strings.Contains(string(a.Result), text) {
		t.Errorf("answered %v %+v %s, not %q", a.err, a.Error, a.Result, text)
	}
}

// TestAnAdminSetsUpAnAgentInTheBrowser goes from an agent's name to its first call: two tools granted, a token made, a call approved,
// a tool tried.
func TestAnAdminSetsUpAnAgentInTheBrowser(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	look := newLooker(t, tab)

	tab.Go(s.base + "/agents/new")
	tab.Fill("[name=name]", "Night")
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/agents/night")
	look.at("agent-fresh")

	tab.Go(s.base + "/agents/night/connectors/tools")
	look.at("agent-grant-fresh")
	tab.Fill("[data-narrow]", "issue")
	tab.Click("li:has(> label > [value=search_issues]) .chosen")
	tab.Click("li:has(> label > [value=create_issue]) .chosen")
	tab.WaitText("[data-grant-count]", "2 of 12 selected")
	look.at("agent-grant")
	tab.Click("[data-grant] .sticky button[type=submit]")
	tab.WaitPath("/agents/night/access")
	tab.WaitText("main", "2 of 12 tools")
	look.at("agent-access")
	tab.Go(s.base + "/agents/night/tools")
	tab.WaitText("#tools", "mcp_tools__create_issue")
	look.at("agent-tools")
	tab.Click("#tools a.cover")
	tab.WaitText("main", "The agent sees the tool. Calls need approval.")
	look.at("agent-tool-why")
	tab.Go(s.base + "/agents/night/tools/mcp_tools__delete_issue")
	tab.WaitText("main", "The agent can't see or call the tool.")

	tab.Go(s.base + "/agents/night/connect#add")
	tab.Fill("[name=name]", "laptop")
	tab.Click("form[action$='/tokens'] button")
	tab.WaitText("#new-key-title", "laptop")
	look.at("agent-connect-new")
	token := tab.Text(".new-key pre")
	if snippet := tab.Text(".snippets details[open] pre"); !strings.Contains(snippet, token) || !strings.Contains(snippet, s.base+"/mcp") {
		t.Errorf("the snippet is %s", snippet)
	}
	tab.Go(s.base + "/agents/night/connect")
	if strings.Contains(tab.Text("main"), token) {
		t.Error("the token is shown twice")
	}
	look.at("agent-connect")

	tab.Go(s.base + "/approvals")
	tab.WaitText("main", "Nothing waiting")
	look.at("approvals-empty")
	night := agent{t: t, base: s.base, token: token}
	waiting := night.ask("mcp_tools__search_issues", `{"query":"login"}`)
	tab.WaitText("#approvals", "search_issues")
	tab.WaitText("#approvals", `"login"`)
	tab.WaitText("#waiting", "1")
	look.at("approvals")
	tab.Click("button[name=allow]")
	tab.WaitText("main", "Standing approval granted for 2 hours")
	(<-waiting).wants(t, "issues found")
	denied := night.ask("mcp_tools__create_issue", `{"title":"A title"}`)
	tab.WaitText("#approvals", "create_issue")
	tab.Fill("[name=reason]", "not tonight")
	tab.Click("form[action$='/deny'] button")
	tab.WaitText("main", "Denied: create_issue.")
	(<-denied).wants(t, "not tonight")

	tab.Go(s.base + "/connectors/tools/tools/search_issues?agent=night")
	look.at("tool-try")
	tab.Fill("#try [name='arg.0']", "logout")
	tab.Click("#try .actions button")
	tab.WaitText("#result", "issues found")
	tab.WaitText("#result", "Matches the output schema.")
	look.at("tool-tried")
	tab.Click("#try button[value=json]")
	tab.WaitText("#try", "One JSON object, sent as is.")
	if typed := tab.Value("#try [name=json]"); !strings.Contains(typed, `"logout"`) {
		t.Errorf("the form's values are lost: %s", typed)
	}
	look.at("tool-try-json")

	tab.Go(s.base + "/calls?agent=night")
	tab.WaitText("#calls", "Denied")
	look.at("calls")
	tab.Click("#calls a.cover")
	tab.WaitText("main", "The dashboard")
	look.at("call")
	for _, page := range []string{"/agents/night", "/agents/night/settings", "/settings"} {
		tab.Go(s.base + page)
		look.at("agents-" + strings.ReplaceAll(strings.TrimPrefix(page, "/"), "/", "-"))
	}
}

func TestCallsAreWatchedLiveAndCancelled(t *testing.T) {
	t.Parallel()
	up := newSlow(t)
	release := sync.OnceFunc(func() { close(up.release) })
	t.Cleanup(release) // the server ends when no client waits
	_, s, tab, c := seeded(t)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Slow", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/slow/sync_tools", nil)
	a := c.hire("helper", "slow")
	tab.Go(s.base + "/calls")
	tab.WaitText("main", "No calls in 7 days")
	browser.Eval[bool](tab, `(window.marked = true)`)

	first := a.ask("mcp_slow__wait", `{"n":1}`)
	<-up.came
	tab.WaitText("#calls tbody", "Running")
	newLooker(t, tab).at("calls-running")
	up.release <- struct{}{}
	(<-first).wants(t, "done")
	tab.WaitText("#calls tbody", "Success")

	second := a.ask("mcp_slow__wait", `{"n":2}`)
	<-up.came
	tab.WaitText("#calls tbody", "Running")
	if !browser.Eval[bool](tab, `window.marked === true`) {
		t.Error("the page was loaded again")
	}
	tab.Click("#calls form[action$='/cancel'] button")
	tab.WaitText("main", "Call cancelled.")
	tab.WaitText("#calls tbody", "Cancelled")
	(<-second).wants(t, "isError")

	third := a.ask("mcp_slow__wait", `{"n":3}`)
	<-up.came
	tab.WaitText("#calls tbody", "Running")
	tab.Go(s.base + browser.Eval[string](tab, `document.querySelector("#calls tbody tr:first-child a.cover").getAttribute("href")`))
	tab.WaitText("main", "Running")
	release()
	(<-third).wants(t, "done")
	tab.WaitText("#result", "done")
}

func TestAgentsAreServedWithoutScript(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": "Night"})
	tab.Scripts(false)
	tab.Go(s.base + "/agents/night/connectors/tools")
	tab.Click("label:has(> [name=all][value=true])")
	tab.Click("[data-grant] .sticky button[type=submit]")
	tab.WaitText("h1", "Grant “Night” all tools of")
	tab.Click("main form button[type=submit]")
	tab.Forgive("422")
	tab.WaitText("main", "All 12 tools")
	tab.Go(s.base + "/agents/night/connect#add")
	tab.Click("form[action$='/tokens'] button")
	tab.WaitText("#new-key-title", "Unnamed")
	night := agent{t: t, base: s.base, token: tab.Text(".new-key pre")}

	waiting := night.ask("mcp_tools__list_labels", `{}`)
	eventually(t, func() error {
		tab.Go(s.base + "/approvals")
		if text := tab.Text("main"); !strings.Contains(text, "list_labels") {
			return fmt.Errorf("the inbox says %s", text)
		}
		return nil
	})
	tab.Click("button[name=allow]")
	tab.WaitText("main", "Nothing waiting")
	(<-waiting).wants(t, "good first issue")
	tab.Go(s.base + "/connectors/tools/tools/list_labels")
	tab.Click("#try .actions button")
	tab.WaitText("#result", "good first issue")
	tab.Click("#result p a")
	tab.WaitText("main", "The dashboard")
}
