package api_test

import (
	"net/http"
	"net/url"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

func TestSkillsAreReadAndDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Connector(t)
	first := w.SkillIn(t, w.Tenant, c.ID, true)
	w.SkillIn(t, w.Tenant, c.ID, false, "more.md")
	viewer, admin := w.createKey(t, connectors.RoleViewer), w.createKey(t, connectors.RoleAdmin)
	skills := "/api/v1/connectors/" + c.Slug + "/skills"
	path := skills + "/" + url.PathEscape(fixture.SkillURI)

	listed := listItems(w.call(t, viewer, http.MethodGet, skills, nil).want(http.StatusOK))
	if len(listed) != 1 || listed[0]["uri"] != fixture.SkillURI || listed[0]["review"] != "changed" || listed[0]["name"] != "refunds" || listed[0]["files"] != 2.0 {
		t.Errorf("%v", listed)
	}
	shown := w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK)
	given, _ := shown["accepted"].(map[string]any)
	if shown["accepted_hash"] != first.Hash.String() || len(given["files"].([]any)) != 1 {
		t.Errorf("%v", shown)
	}
	waiting := listItems(w.call(t, viewer, http.MethodGet, "/api/v1/tool_changes", nil).want(http.StatusOK))
	if len(waiting) != 1 || waiting[0]["tool"] != "skill:"+fixture.SkillURI || waiting[0]["risk"] != "high" || waiting[0]["after_hash"] != shown["hash"] {
		t.Errorf("%v", waiting)
	}
	history := listItems(w.call(t, viewer, http.MethodGet, path+"/changes", nil).want(http.StatusOK))
	if len(history) != 1 || len(history[0]["differences"].([]any)) != 1 {
		t.Errorf("%v", history)
	}

	w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPost, path+"/accept", nil).want(http.StatusForbidden)
	w.call(t, admin, http.MethodPost, path+"/accept", map[string]any{"hash": first.Hash.String()}).problem(http.StatusConflict, "tool-changed")
	seen := map[string]any{"hash": shown["hash"]}
	if got := w.call(t, admin, http.MethodPost, path+"/reject", seen).want(http.StatusOK); got["review"] != "rejected" || got["accepted_hash"] != first.Hash.String() {
		t.Errorf("%v", got)
	}
	if got := w.call(t, admin, http.MethodPost, path+"/accept", seen).want(http.StatusOK); got["review"] != "accepted" || got["accepted_hash"] != shown["hash"] {
		t.Errorf("%v", got)
	}
	if got := w.call(t, admin, http.MethodPost, path+"/restore", map[string]any{"hash": first.Hash.String()}).want(http.StatusOK); got["accepted_hash"] != first.Hash.String() {
		t.Errorf("%v", got)
	}
	w.call(t, viewer, http.MethodGet, skills+"/"+url.PathEscape("skill://no/SKILL.md"), nil).want(http.StatusNotFound)
}
