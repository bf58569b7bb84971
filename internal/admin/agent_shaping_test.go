package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestAgentTool_ShortensAnswers(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Synced(t, c.ID, "search")
	d.Grant(t, a.ID, c.ID)
	d.OldCalls(t, c, "search", 1, 2)
	d.AsSystem(t, `update tool_calls set content = convert_to(jsonb_build_array(jsonb_build_object('type', 'text', 'text',
		jsonb_build_object('body', repeat('word ', 2000), 'id', 1)::text))::text, 'UTF8')`, nil)
	admin, path := d.signInAsRole(connectors.RoleAdmin), "/agents/support/tools/mcp_linear__search"
	lacks := func(p page, text string) {
		t.Helper()
		if p.says(text) {
			t.Errorf("the page says %q", text)
		}
	}
	lacks(d.signInAsRole(connectors.RoleViewer).get(path), "Shorten answers")
	admin.get(path).want(t, http.StatusOK, "Shorten answers", "Maximum tokens", "stored encrypted for 24 hours", "The agent can read every field that is left out.")
	lacks(admin.get(path), "Give whole answers")
	admin.get(path+"?preview=1&fields=&budget=500").want(t, http.StatusOK, "of 10,000 characters in body", "tokens", ".body is 99 % of what this tool answers.", "Leave it out")
	advised := admin.get(path + "?preview=1&fields=.&budget=500")
	advised.want(t, http.StatusOK, "Leave it out", `name="fields" value=". | del(.body?)"`, url.Values{"fields": {". | del(.body?)"}}.Encode(), "Shortened answer", "<pre", "Shortened: ")
	if len(advised.Body) > 60_000 {
		t.Errorf("the preview has %d bytes", len(advised.Body))
	}
	lacks(admin.get(path+"?preview=1&fields=.|del(.body?)&budget=500"), "Leave it out")
	admin.get(path+"?preview=1&fields=map(&budget=").want(t, http.StatusOK, "valid jq")
	admin.post(path+"/shaping", url.Values{"fields": {"map("}, "budget": {"500"}}).want(t, http.StatusUnprocessableEntity, "valid jq", "map(")
	admin.post(path+"/shaping", url.Values{"budget": {"500"}}).want(t, http.StatusSeeOther)
	admin.get(path).want(t, http.StatusOK, `value="500"`, "Give whole answers")
	if file := admin.get("/exports/agents/support/access?format=json").Body; !strings.Contains(file, `{"search":{"budget":500}}`) {
		t.Errorf("the file of the grants is %s", file)
	}
	admin.post(path+"/shaping", url.Values{"fields": {". | del(.body?)"}, "budget": {"500"}}).want(t, http.StatusSeeOther)
	admin.get(path).want(t, http.StatusOK, "Answers are shortened.", "Undo", `<input type="hidden" name="fields" value="">`, `<input type="hidden" name="budget" value="500">`)
	admin.post(path+"/shaping", url.Values{"budget": {"500"}}).want(t, http.StatusSeeOther)
	admin.post(path+"/shaping", url.Values{"budget": {"500"}}).want(t, http.StatusSeeOther)
	lacks(admin.get(path), "Undo")
	admin.post(path+"/shaping", url.Values{"budget": {"500"}, "do": {"off"}}).want(t, http.StatusSeeOther)
	lacks(admin.get(path), "Give whole answers")
	admin.post(strings.Replace(path, "search", "none", 1)+"/shaping", url.Values{"budget": {"5"}}).want(t, http.StatusNotFound)
}
