package mcpadmin_test

import (
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

// TestSkillChange_IsReviewedByAnAssistant lists a changed skill, accepts it and withdraws it.
func TestSkillChange_IsReviewedByAnAssistant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Connector(t)
	first := w.SkillIn(t, w.Tenant, c.ID, true)
	now := w.SkillIn(t, w.Tenant, c.ID, false, "more.md")
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleAdmin), newest, "accept")
	var changes struct {
		Items []struct {
			Hash, Risk string
			Untrusted  struct{ Tool string }
		}
	}
	a.callTool(t, "list_tool_changes", nil, &changes)
	if len(changes.Items) != 1 || changes.Items[0].Untrusted.Tool != connectors.SkillTool(fixture.SkillURI) || changes.Items[0].Hash != now.Hash.String() || changes.Items[0].Risk != "high" {
		t.Fatalf("changes %+v", changes)
	}
	review := map[string]any{"connector": c.Slug, "tool": changes.Items[0].Untrusted.Tool, "hash": changes.Items[0].Hash}
	var got struct {
		Review  string
		Enabled bool
	}
	decide := func(verdict, want string, served bool) {
		t.Helper()
		review["verdict"] = verdict
		a.callTool(t, "review_tool_change", review, &got)
		if got.Review != want || got.Enabled != served {
			t.Errorf("%s: %+v", verdict, got)
		}
	}
	review["verdict"] = "keep"
	a.callInvalid(t, "review_tool_change", review)
	decide("reject", "rejected", true)
	decide("accept", "accepted", true)
	decide("reject", "rejected", false)
	review["hash"], review["verdict"] = first.Hash.String(), "accept"
	if code, _ := a.callRefused(t, "review_tool_change", review); code != "tool-changed" {
		t.Errorf("another version: %s", code)
	}
	if len(a.questions) == 0 || !strings.Contains(a.questions[0], fixture.SkillURI) {
		t.Errorf("asked %v", a.questions)
	}
}
