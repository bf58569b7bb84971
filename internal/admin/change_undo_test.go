package admin_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

var decisionField = regexp.MustCompile(`name="decision" value="([^"]+)"`)

// undoForm is the form of the message's Undo.
func (p page) undoForm(t *testing.T) url.Values {
	t.Helper()
	form := url.Values{}
	for _, field := range decisionField.FindAllStringSubmatch(p.Body, -1) {
		form.Add("decision", html.UnescapeString(field[1]))
	}
	if len(form) == 0 || !strings.Contains(p.Body, `action="/changes/undo"`) {
		t.Fatalf("the message offers no Undo\n%s", plainText(p.Body))
	}
	return form
}

func TestChangeUndo_AfterAcceptAndReject(t *testing.T) {
	t.Parallel()
	d, up := newDashboardWithChangedTool(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	const path = "/connectors/linear/tools/search"
	for act, form := range map[string]url.Values{"/accept": sure(evilTool), "/reject": seen(evilTool)} {
		undo := b.submit(path+act, form).undoForm(t)
		d.advancePastConfirmation() // to undo needs none
		b.submit("/changes/undo", undo).want(t, http.StatusOK, "Undid the decision on search of Linear.", "1 change", "High risk")
		b.get(path).want(t, http.StatusOK, "Tool changed", "Review change")
		b.submit("/changes/undo", undo).want(t, http.StatusOK, "Nothing was undone.")
		b = d.signInAsRole(connectors.RoleAdmin)
	}
	b.get("/audit").want(t, http.StatusOK, "undid the decision on search of Linear")

	undo := b.submit(path+"/accept", sure(evilTool)).undoForm(t)
	viewer := d.signInAsRole(connectors.RoleMember)
	viewer.post("/changes/undo", undo).want(t, http.StatusForbidden)
	up.SetTools(strings.Replace(evilTool, "Searches", "Deletes", 1))
	b.submit("/connectors/linear/sync_tools", nil)
	b.submit("/changes/undo", undo).want(t, http.StatusOK, "Nothing was undone.")
	for _, value := range []string{"", "x@1", "0191d7a0-0000-7000-8000-000000000000", "0191d7a0-0000-7000-8000-000000000000@x"} {
		b.post("/changes/undo", url.Values{"decision": {value}}).want(t, http.StatusBadRequest)
	}
	b.post("/changes/undo", url.Values{"decision": {"0191d7a0-0000-7000-8000-000000000000@1"}}).want(t, http.StatusNotFound)
}

func TestChangeUndo_OfSeveral(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Tools: []string{`{"name":"a"}`, `{"name":"b"}`}})
	b := d.signInAsRole(connectors.RoleAdmin)
	form := connectorForm("Linear", up.URL)
	b.post("/connectors", form)
	b.submit("/connectors/linear/sync_tools", nil)
	up.SetTools(`{"name":"a","description":"Other."}`, `{"name":"b","description":"Other."}`)
	b.submit("/connectors/linear/sync_tools", nil)
	all := url.Values{"do": {"reject"}, "change": b.get("/changes?choose=all").checkboxValues()}
	undo := b.submit("/changes/decide", all).undoForm(t)
	if len(undo["decision"]) != 2 {
		t.Fatalf("%v", undo)
	}
	b.submit("/changes/undo", undo).want(t, http.StatusOK, "Undid 2 decisions.", "2 changes")
	stale := url.Values{"decision": {undo["decision"][0], undo["decision"][1]}}
	one := b.submit("/connectors/linear/tools/a/reject", seen(`{"name":"a","description":"Other."}`)).undoForm(t)
	stale["decision"][0] = one["decision"][0]
	b.submit("/changes/undo", stale).want(t, http.StatusOK, "Nothing was undone.", "1 change") // all or none
}
