//go:build e2e

package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/browser"
)

// TestTheFirstResultTakesFiveClicks goes from an empty installation to a result on screen, and then to an agent's token, all in the
// browser. From the first page of the empty installation on it counts clicks and keys.
func TestTheFirstResultTakesFiveClicks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	upstream := h.devMCP()
	s := h.serve()
	tab := browser.Open(t)
	tab.Go(s.setupLink())
	tab.Fill("[name=organisation]", "Keller & Co")
	tab.Fill("[name=name]", "Ada Keller")
	tab.Fill("[name=email]", ownerEmail)
	tab.Fill("[name=password]", ownerPassword)
	tab.Press(kb.Enter)
	tab.WaitPath("/")
	look := newLooker(t, tab)
	look.at("first-home")

	person := tab.Count()
	person.Click(`.steps a[href="/connectors/new"]`)
	tab.WaitPath("/connectors/new")
	person.Write(strings.TrimPrefix(upstream, "http://") + "/mcp") // the field has the focus
	person.Press(kb.Tab)
	tab.WaitText("#test-result", "answered with 12 tools.")
	if got := tab.Value("[name=url]"); got != upstream+"/mcp" {
		t.Errorf("the URL was completed to %q", got)
	}
	if got := tab.Value("[name=name]"); got == "" {
		t.Error("the server's name is not taken")
	}
	look.at("first-tested")
	person.Click("main form button[type=submit]:not([formaction])")
	tab.WaitText(".start-tools", "list_labels")
	look.at("first-start")
	start := browser.Eval[string](tab, "location.pathname")
	person.Click(`.start-tools a[href$="/list_labels#try"]`)
	tab.WaitText("#try", "Run")
	person.Click("#try button[type=submit]:not([name])")
	tab.WaitText("#tool", "good first issue")
	person.AtMost(5, "the first result")

	tab.Go(s.base + "/")
	tab.WaitText("#first-steps", "1 of 4 done")
	look.at("first-checklist")
	tab.Go(s.base + start)
	tab.Fill("[name=name]", "Claude Code")
	tab.Choose("[name=approval]", "auto")
	tab.Click(".panel form[action='/start/agent'] button")
	tab.WaitText("main", "Claude Code is ready")
	token := tab.Text(".new-key pre")
	look.at("first-agent")

	tab.Go(s.base + "/")
	tab.WaitText("#first-steps", "3 of 4 done")
	browser.Eval[bool](tab, `(window.marked = true)`)
	(<-agent{t: t, base: s.base, token: token}.ask(connectors.ExposedName(strings.Split(start, "/")[2], "list_labels"), `{}`)).wants(t, "good first issue")
	tab.WaitText("#first-steps", "4 of 4 done")
	if !browser.Eval[bool](tab, `window.marked === true`) {
		t.Error("the page was loaded again")
	}
	tab.Go(s.base + "/")
	tab.WaitGone("#first-steps")
}

// TestATestOfTheConnectionIsCancelled leaves the URL of a server that says nothing, and cancels.
func TestATestOfTheConnectionIsCancelled(t *testing.T) {
	t.Parallel()
	_, s, tab, _ := seeded(t)
	asked, gone := make(chan struct{}, 8), make(chan struct{}, 8)
	silent := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // until then the server does not see that its client is gone
		asked <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	tab.Go(s.base + "/connectors/new")
	tab.Fill("[name=url]", silent)
	tab.Press(kb.Tab)
	<-asked
	tab.WaitText(".test-wait", "Testing")
	tab.WaitText("[data-elapsed]", " s")
	tab.Click("[data-test-cancel]")
	<-gone
	tab.WaitText("#test-result", "Tested when you leave the field.")
	browser.Eval[string](tab, `document.querySelector("[name=url]").value = ""`)
	tab.Fill("[name=url]", "ftp://127.0.0.1/mcp")
	tab.Click("button[data-test]")
	tab.WaitText("#field-url-error", "http")
	tab.Forgive("422")
	if at := browser.Eval[string](tab, `document.activeElement.name`); at != "url" {
		t.Errorf("the focus is at %q, and the error at the URL", at)
	}
}

func TestSeedMakesSamplesWithAPastAndRemovesThem(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	upstream := h.devMCP()
	s := h.serve()
	h.run("seed", "--dev-mcp", upstream)
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "acorn", "--role", "admin", "--name", "tests")}
	items := func(path string) []any {
		list, _ := c.must(http.StatusOK, http.MethodGet, path, nil)["items"].([]any)
		return list
	}
	for _, status := range []string{"success", "error", "denied", "cancelled", "pending_approval"} {
		if len(items("/api/v1/tool_calls?status="+status)) == 0 {
			t.Errorf("no call is %s", status)
		}
	}
	if n := len(items("/api/v1/approvals")); n != 1 {
		t.Errorf("%d approvals wait, want 1", n)
	}
	if n := len(items("/api/v1/access_requests?state=open")); n != 1 {
		t.Errorf("%d requests for access wait, want 1", n)
	}
	if n := len(items("/api/v1/connectors/tools/sync_runs?limit=100")); n < 25 {
		t.Errorf("%d runs of a week", n)
	}
	for slug, want := range map[string]string{"tools": "ok", "docs": "needs_auth", "broken": "error"} {
		if have := c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/"+slug, nil)["status"]; have != want {
			t.Errorf("%s is %v, want %s", slug, have, want)
		}
	}
	if out := h.run("audit", "verify"); !strings.Contains(out, "acorn") {
		t.Errorf("the audit logs of the samples: %s", out)
	}
	if out := h.run("seed", "--remove"); !strings.Contains(out, "Removed acorn") || !strings.Contains(out, "Removed birch") {
		t.Errorf("the removal says %q", out)
	}
	s.setUp(newPerson(t))
	if out := h.try("seed", "--dev-mcp", upstream); out.code == 0 || !strings.Contains(out.stderr, "--beside-others") {
		t.Errorf("beside another organisation: %+v", out)
	}
	h.run("seed", "--beside-others", "--dev-mcp", upstream)
}
