//go:build e2e

package admin_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"

	chromium "patchbay/internal/testing/browser"
)

// paste fills a field at once: typed, its quotes and braces would each be a key.
func paste(tab *chromium.Tab, css, text string) {
	chromium.Eval[bool](tab, `(document.querySelector(`+strconv.Quote(css)+`).value = `+strconv.Quote(text)+`) !== null`)
}

// inWindow reports whether an element lies in the window as a whole.
func inWindow(tab *chromium.Tab, css string) bool {
	return chromium.Eval[bool](tab, `(() => { const r = document.querySelector(`+strconv.Quote(css)+`).getBoundingClientRect();
		return r.top >= 0 && r.bottom <= innerHeight && r.right <= innerWidth && r.height > 0 })()`)
}

func TestToast_IsSeenAfterAFormFarDown(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	addConnectorWithTools(t, d, d.signInAsRole(connectors.RoleAdmin))
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Size(900, 500)
	tab.Go(d.base + "/connectors/linear/tools/search_issues")
	tab.Fill("[name=alias]", "find")
	tab.Click("form[action$='/curate'] button")
	tab.WaitText("#notice", "saved.")
	tab.WaitPath("/connectors/linear/tools/search_issues")                                                // whole: it is at its place
	chromium.Eval[bool](tab, `document.querySelector("#notice button[form=undo]").focus() === undefined`) // it stays while it has the focus
	if !inWindow(tab, "#notice p") {
		t.Error("the toast is outside of the window")
	}
	if y := chromium.Eval[float64](tab, "scrollY"); y < 100 {
		t.Errorf("the page begins at %v", y)
	}
	tab.Size(1360, 900)
	checkAppearance(tab, "toast")
	chromium.Eval[bool](tab, `(document.documentElement.dataset.old = "") === ""`)
	tab.Click("#notice button[form=undo]")
	tab.WaitGone("html[data-old]")
	tab.WaitText("#notice", "saved.")
	if alias := tab.Value("[name=alias]"); alias != "" {
		t.Errorf("after Undo the name is %q", alias)
	}
	tab.Click("#notice [data-close]")
	tab.WaitGone("#notice p")

	tab.Scripts(false)
	tab.Go(d.base + "/connectors/linear/tools/search_issues")
	tab.Fill("[name=alias]", "find")
	tab.Click("form[action$='/curate'] button")
	tab.WaitText("#notice", "saved.")
	tab.Click("#notice button[form=undo]")
	tab.WaitText("#notice", "saved.")
}

func TestBulkBar_AppearsWithASelection(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	addConnectorWithTools(t, d, d.signInAsRole(connectors.RoleAdmin))
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/connectors/linear/tools")
	hidden := func() bool { return chromium.Eval[bool](tab, `document.querySelector("#tools-bulk").hidden`) }
	tab.WaitText("#tools", "Select all")
	if !hidden() {
		t.Error("the bar is there with nothing selected")
	}
	tab.Click("input[name=tool][value=create_issue]")
	tab.WaitText("#tools-bulk", "1 selected")
	checkAppearance(tab, "bulk-bar")
	tab.Click("[data-bulk-clear]")
	if !hidden() {
		t.Error("the bar stays")
	}
	tab.Click("input[name=tool][value=create_issue]")
	tab.Click("#tools-bulk button[value=disable]")
	tab.WaitText("#notice", "Disabled 1 tool.")
	tab.Click("#notice button[form=undo]")
	tab.WaitText("#notice", "Enabled 1 tool.")
}

// A call that begins to wait is seen on any page, and decided with two clicks.
func TestFrame_CountsAndAnnouncesOnEveryPage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, _, _ := d.addAnsweringServer(`{"content":[{"type":"text","text":"3 found"}]}`)
	tab := d.openSignedInTab(connectors.RoleMember)
	tab.Go(d.base + "/agents")
	tab.WaitText("main", "Support")
	chromium.Eval[bool](tab, `(window.marked = true)`)
	first := d.createAskedCall(a, `{"q":"lakes"}`)
	tab.WaitText("#waiting", "1")
	d.signInAsRole(connectors.RoleMember).post("/approvals/"+first.String()+"/deny", nil)
	tab.WaitGone("#waiting .tally")
	link := "#notice a[href$='" + d.createAskedCall(a, `{"q":"rivers"}`).String() + "']" // the first call may have a notice still
	tab.WaitText("#notice p:has("+strings.TrimPrefix(link, "#notice ")+")", "Waiting for approval: search")
	chromium.Eval[bool](tab, `document.querySelector("`+link+`").focus() === undefined`) // it stays while it has the focus
	tab.WaitText("#waiting", "1")
	tab.WaitText("#needs-count", "1")
	if title := chromium.Eval[string](tab, "document.title"); title != "(1) Agents · Patchbay" {
		t.Errorf("the title is %q", title)
	}
	if !chromium.Eval[bool](tab, `window.marked === true`) {
		t.Error("the page was loaded again")
	}
	tab.Click(link)
	tab.WaitText("main", "rivers")
	tab.Click("form[action$='/approve'] button")
	tab.WaitText("main", "Approved, done")
	tab.WaitText("#result", "3 found")
	tab.WaitGone("#waiting .tally")
	if title := chromium.Eval[string](tab, "document.title"); strings.HasPrefix(title, "(") {
		t.Errorf("the title is %q", title)
	}
}

func TestStepUp_DialogKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.createMember(connectors.RoleOwner)
	tab := d.openTabAs(owner)
	const document = `{"mcpServers": {"linear": {"url": "https://mcp.linear.example/mcp", "headers": {"X-Api-Key": "sEcret"}}}}`
	// The browser's clock is not the dashboard's: the page is told that its confirmation is over.
	lapse := func() {
		d.advancePastConfirmation()
		chromium.Eval[bool](tab, `(document.getElementById("ask").dataset.confirmedUntil = "0") === "0"`)
	}
	tab.Go(d.base + "/connectors/import")
	tab.WaitPath("/connectors/import")
	paste(tab, "[name=document]", document)
	lapse()
	tab.Click("button[formaction^='/connectors/import/preview']")
	tab.WaitText("#import-preview", "1 to create")
	submit := "main form .actions button:not([formaction])"
	tab.Click(submit)
	tab.WaitText("#ask", "Confirm your password to import 1 connector.")
	tab.Forgive("403")
	checkAppearance(tab, "step-up-dialog")
	tab.Click("#ask [data-ask-cancel]")
	tab.WaitGone("#ask[open]")
	if got := tab.Value("[name=document]"); got != document {
		t.Errorf("the document is %q", got)
	}
	tab.Click(submit)
	tab.Fill("#ask [name=confirm_password]", "not the password")
	tab.Click("#ask button[type=submit]")
	tab.WaitText("#ask", "Wrong password.")
	tab.Forgive("422")
	tab.Forgive("403")
	tab.Fill("#ask [name=confirm_password]", password.Reveal())
	tab.Click("#ask button[type=submit]")
	tab.WaitText("main", "1 created")

	tab.Go(d.base + "/agents/new")
	tab.Fill("[name=name]", "Night watch")
	chromium.Eval[bool](tab, `(document.getElementById("ask").dataset.confirmedUntil = "0") === "0"`)
	elsewhere := d.browser()
	elsewhere.signIn(owner.Email)
	elsewhere.submit("/account/sign-out", nil)
	tab.Click("main form button[type=submit]")
	tab.WaitText("#ask", "You were signed out")
	tab.Forgive("401")
	if got := tab.Value("[name=name]"); got != "Night watch" {
		t.Errorf("the name is %q", got)
	}
}

func TestStepUp_WithoutScriptTheFileIsImported(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleOwner)
	tab.Go(d.base + "/connectors/import")
	tab.WaitPath("/connectors/import")
	paste(tab, "[name=document]", `{"mcpServers": {"linear": {"url": "https://mcp.linear.example/mcp"}}}`)
	tab.Scripts(false)
	d.advancePastConfirmation()
	tab.Click("main form .actions button:not([formaction])")
	tab.WaitText("main", "Confirm your password to import connectors.")
	tab.Forgive("403")
	tab.Fill("[name=confirm_password]", password.Reveal())
	tab.Click("main form button[type=submit]")
	tab.WaitText("main", "1 created")
}

// A trial shows its progress and its end in place, and can be cancelled there.
func TestTryIt_FollowsItsCall(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	proceed := make(chan struct{})
	answer := mcptest.Answer("application/json", func(c mcptest.Call) string {
		return mcptest.Result(c, `{"content":[{"type":"text","text":"3 found"}],"structuredContent":{"found":3}}`)
	})
	slow := func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		select {
		case <-proceed:
			answer(w, r, c)
		case <-r.Context().Done():
		}
	}
	d.addServerWith(searchTool, slow)
	b, tab := d.signInAsRole(connectors.RoleMember), d.openSignedInTab(connectors.RoleMember)
	tab.Go(d.base + "/connectors/linear/tools/search")
	chromium.Eval[bool](tab, `(window.marked = true)`)
	run := func(q string) {
		paste(tab, "[name='arg.0']", q)
		tab.Click("#try button:not([name])")
	}
	waiting := func() string {
		tab.WaitText("#try-live", "Waiting for approval")
		return chromium.Eval[string](tab, `document.querySelector("#try-live a").getAttribute("href")`)
	}
	run("rivers")
	b.post(waiting()+"/approve", url.Values{})
	tab.WaitText("#try-live", "Running")
	checkAppearance(tab, "try-running")
	tab.Click("#try-live button")
	tab.WaitText("#result", "Cancelled")
	tab.WaitGone("#try-live > *")
	tab.WaitGone("#try button:disabled")
	run("lakes") // another call: the same one has its decision
	b.post(waiting()+"/approve", url.Values{})
	tab.WaitText("#try-live", "Running")
	close(proceed)
	tab.WaitText("#result", "3 found")
	if !chromium.Eval[bool](tab, `window.marked === true`) {
		t.Error("the page was loaded again")
	}
	if got := tab.Value("[name='arg.0']"); got != "lakes" {
		t.Errorf("the argument is %q", got)
	}
}
