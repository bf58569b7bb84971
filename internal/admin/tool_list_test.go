package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
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
	pin.Set("connector", "none")
	if got := b.post("/agents/support/pins", pin); got.Status != http.StatusNotFound {
		t.Errorf("an unknown connector: %d", got.Status)
	}
	ungranted := url.Values{"connector": {"github"}, "tool": {"delete_thing_0"}, "pinned": {"true"}}
	if got := b.post("/agents/support/pins", ungranted); got.Status != http.StatusNotFound {
		t.Errorf("a tool without access: %d", got.Status)
	}
}

func TestToolList_SearchShowsReasons(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.createUnusedTools()
	b := d.signInAsRole(connectors.RoleViewer)
	page := b.get("/agents/support/tools?find=delete+a+thing")
	page.want(t, http.StatusOK, "“delete” in the name", "call_destroying", "delete_thing_0")
	if page.says("Change in settings") || strings.Contains(page.Body, "/pins") {
		t.Error("a viewer may change the list")
	}
	b.get("/agents/support/tools?find=zzzzqqqq").want(t, http.StatusOK, "0 tools found")
}
