package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestToolList_SettingAndPins(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.createUnusedTools()
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/agents/support/tools").want(t, http.StatusOK, "Full: all tools. Pinned tools matter only in a lean list.", "Full list", "Lean list", "Change in settings", "Pin")
	b.submit("/agents/support", url.Values{"name": {"Support"}, "tool_list": {"lean"}}).want(t, http.StatusOK, "Agent saved.")
	b.get("/agents/support/tools").want(t, http.StatusOK, "Lean: 0 pinned tools, and a search for the others.")

	pin := url.Values{"connector": {"linear"}, "tool": {"create_thing_0"}, "pinned": {"true"}, "return_to": {"/agents/support/tools?q=create"}}
	b.submit("/agents/support/pins", pin).want(t, http.StatusOK, "Tool pinned.", "Lean: 1 pinned tool, and a search for the others.", "Unpin")
	_, linear := d.findAgentAndConnector("support", "linear")
	agent, _ := d.findAgentAndConnector("support", "linear")
	grant, err := d.Door().Agents().Grant(t.Context(), agent.ID, linear.ID)
	if err != nil || strings.Join(grant.PinnedTools, " ") != "create_thing_0" {
		t.Errorf("pinned %q, %v", grant.PinnedTools, err)
	}
	pin.Set("pinned", "false")
	b.submit("/agents/support/pins", pin).want(t, http.StatusOK, "Tool unpinned.", "Lean: 0 pinned tools")
	if cells := strings.Count(b.get("/agents/support/tools").Body, `<td class="act">`); cells == 0 {
		t.Error("a phone has no pins")
	}
	pin.Set("connector", "none")
	if got := b.post("/agents/support/pins", pin); got.Status != http.StatusNotFound {
		t.Errorf("an unknown connector: %d", got.Status)
	}
	ungranted := url.Values{"connector": {"github"}, "tool": {"delete_thing_0"}, "pinned": {"true"}}
	if got := b.post("/agents/support/pins", ungranted); got.Status != http.StatusNotFound {
		t.Errorf("a tool without access: %d", got.Status)
	}
}

func TestToolList_OftenCalledToolsMayBePinned(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a := d.createUnusedTools()
	agent, linear := d.findAgentAndConnector("support", "linear")
	for range 9 { // the tenth call
		call := newCall(a, linear, connectors.CallSuccess)
		call.Tool = "create_thing_0"
		d.createEndedCall(d.Tenant, call)
	}
	b := d.signInAsRole(connectors.RoleAdmin)
	const section, tool = "Often called, not pinned", "Pin mcp_linear__create_thing_0"
	if b.get("/agents/support/unused").says(section) {
		t.Error("a full list has pins")
	}
	b.submit("/agents/support", url.Values{"name": {"Support"}, "tool_list": {"lean"}}).want(t, http.StatusOK, "Agent saved.")
	p := b.get("/agents/support/unused")
	p.want(t, http.StatusOK, section, "mcp_linear__create_thing_0", "10 calls", `aria-label="`+tool+`"`)
	if strings.Contains(p.Body, "Pin mcp_linear__list_thing_0") {
		t.Error("a tool of one call is offered")
	}
	if viewer := d.signInAsRole(connectors.RoleViewer).get("/agents/support/unused"); !viewer.says(section) || strings.Contains(viewer.Body, tool) {
		t.Error("a viewer reads no section, or may pin")
	}
	pin := url.Values{"connector": {"linear"}, "tool": {"create_thing_0"}, "pinned": {"true"}, "return_to": {"/agents/support/unused"}}
	if after := b.submit("/agents/support/pins", pin); after.Status != http.StatusOK || !after.says("Tool pinned.") || after.says(section) {
		t.Errorf("after the pin of %s: %d", agent.Slug, after.Status)
	}
}

func TestToolList_SearchShowsReasons(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.createUnusedTools()
	_, linear := d.findAgentAndConnector("support", "linear")
	asked := []store.LearnedTerm{{ToolKey: store.ToolKey{ConnectorID: linear.ID, Tool: "delete_thing_0"}, Term: "thing", Weight: 5}}
	if err := d.Door().Tools().AddLearned(t.Context(), asked); err != nil {
		t.Fatal(err)
	}
	b := d.signInAsRole(connectors.RoleViewer)
	page := b.get("/agents/support/tools?find=delete+a+thing")
	page.want(t, http.StatusOK, "“delete” in the name", "“thing” asked before", "call_destroying", "delete_thing_0")
	if page.says("Change in settings") || strings.Contains(page.Body, "/pins") {
		t.Error("a viewer may change the list")
	}
	b.get("/agents/support/tools?find=zzzzqqqq").want(t, http.StatusOK, "0 tools found")
}
