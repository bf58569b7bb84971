package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patchbay/internal/connectors"
)

func TestCreateAnswersTheWholeConnector(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Linear", "slug": "linear", "description": "Issues", "transport": "streamable_http",
		"url": "https://mcp.linear.example/mcp", "headers": map[string]string{"X-Team": "eu"}, "credential_mode": "shared",
		"auth":       map[string]any{"type": "api_key", "key": "k-1", "header": "X-Key"},
		"timeout_ms": 20000, "retry_attempts": 0, "enabled": true, "sync_interval_s": 0, "tool_changes": "hold_all", "listen": "off",
		"retry_backoff_ms": 500, "connect_timeout_ms": 2000, "max_response_bytes": 100_000, "stream_reconnects": 0, "methods": []string{"acme/b", "acme/a", "acme/b"},
	}).want(http.StatusCreated)
	want := map[string]any{
		"name": "Linear", "slug": "linear", "description": "Issues", "kind": "mcp", "transport": "streamable_http",
		"url": "https://mcp.linear.example/mcp", "headers": map[string]any{"X-Team": "eu"}, "credential_mode": "shared",
		"auth":       map[string]any{"type": "api_key", "header": "X-Key"},
		"timeout_ms": 20000.0, "retry_attempts": 0.0, "enabled": true, "sync_interval_s": 0.0, "tool_changes": "hold_all", "listen": "off", "calls_per_minute": 0.0, "session_per_agent": true,
		"retry_backoff_ms": 500.0, "connect_timeout_ms": 2000.0, "max_response_bytes": 100_000.0, "stream_reconnects": 0.0, "methods": []any{"acme/a", "acme/b"},
		"status": "never_synced", "auth_behaviour": "unknown", "discovered_tools": []any{}, "tool_count": 0.0,
		"tools_last_synced_at": nil, "last_error": nil, "max_definition_age_s": 900.0,
		"tags":                []any{},
		"tools_vanished":      nil,
		"icon":                nil,
		"listening":           map[string]any{"state": "off", "since": nil, "last_notified_at": nil, "reason": "Turned off in settings."},
		"server":              map[string]any{"name": "", "version": "", "title": "", "protocol_version": "", "instructions": ""},
		"instructions_review": "accepted",
	}
	made := cmpopts.IgnoreMapEntries(func(k string, _ any) bool {
		return k == "id" || k == "created_at" || k == "updated_at" || k == "health" || k == "breaker"
	})
	if diff := cmp.Diff(want, got, made); diff != "" {
		t.Error(diff)
	}
	if !isTime(got["created_at"]) || !isTime(got["updated_at"]) || len(got["id"].(string)) != 36 {
		t.Errorf("%v", got)
	}
}

func TestConnectors_TagsAreSetAndFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	tagsOf := func(r reply, status int) any { t.Helper(); return r.want(status)["tags"] }
	for _, name := range []string{"Linear", "Notes"} {
		got := tagsOf(w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{"name": name, "url": "https://mcp.example.com/" + name, "tags": []string{" CRM", "beta", "crm"}}), http.StatusCreated)
		if diff := cmp.Diff([]any{"beta", "crm"}, got); diff != "" {
			t.Error(diff)
		}
	}
	patch := func(body map[string]any) any {
		return tagsOf(w.call(t, admin, http.MethodPatch, "/api/v1/connectors/notes", body), http.StatusOK)
	}
	if got := patch(map[string]any{"description": "x"}); cmp.Diff([]any{"beta", "crm"}, got) != "" {
		t.Errorf("another field changes the tags: %v", got)
	}
	if got := patch(map[string]any{"tags": []string{"crm", "docs"}}); cmp.Diff([]any{"crm", "docs"}, got) != "" {
		t.Errorf("replaced: %v", got)
	}
	for tag, want := range map[string]int{"crm": 2, "CRM": 2, "beta": 1, "docs": 1, "none": 0, "": 2} {
		if items := w.call(t, admin, http.MethodGet, "/api/v1/connectors?tag="+tag, nil).want(http.StatusOK)["items"].([]any); len(items) != want {
			t.Errorf("%d connectors with the tag %q, want %d", len(items), tag, want)
		}
	}
	w.call(t, admin, http.MethodPatch, "/api/v1/connectors/notes", map[string]any{"tags": []string{"two words"}}).want(http.StatusUnprocessableEntity)
	if got := patch(map[string]any{"tags": []string{}}); cmp.Diff([]any{}, got) != "" {
		t.Errorf("cleared: %v", got)
	}
	events := w.call(t, admin, http.MethodGet, "/api/v1/audit_events?action=connector.update&limit=1", nil)
	if !strings.Contains(string(events.body), `"changed":["tags"]`) || !strings.Contains(string(events.body), `"docs"`) {
		t.Errorf("the audit event does not have the tags: %s", events.body)
	}
}

func TestConnectorURLHasBothFormsOfItsHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodPost, "/api/v1/connectors",
		map[string]any{"name": "Books", "url": "https://bücher.example/mcp"}).want(http.StatusCreated)
	if got["url"] != "https://xn--bcher-kva.example/mcp" || got["url_unicode"] != "https://bücher.example/mcp" {
		t.Errorf("%v and %v", got["url"], got["url_unicode"])
	}
}

func TestCreateFillsInTheDefaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodPost, "/api/v1/connectors",
		map[string]any{"name": "My Server", "url": "https://mcp.example.com/"}).want(http.StatusCreated)
	for field, want := range map[string]any{
		"slug": "my-server", "transport": "streamable_http", "credential_mode": "shared", "timeout_ms": 30000.0,
		"retry_attempts": 3.0, "enabled": true, "sync_interval_s": 900.0, "tool_changes": "hold_risky", "listen": "auto", "description": "",
		"retry_backoff_ms": 250.0, "connect_timeout_ms": 10_000.0, "max_response_bytes": 8388608.0, "stream_reconnects": 5.0,
	} {
		if got[field] != want {
			t.Errorf("%s is %v, want %v", field, got[field], want)
		}
	}
	if diff := cmp.Diff(map[string]any{"type": "none"}, got["auth"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{}, got["headers"]); diff != "" {
		t.Error(diff)
	}
}

func TestASlugServesWhereAnIDDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, viewer := w.Connector(t), w.createKey(t, connectors.RoleViewer)
	byID := w.call(t, viewer, http.MethodGet, "/api/v1/connectors/"+c.ID.String(), nil).want(http.StatusOK)
	bySlug := w.call(t, viewer, http.MethodGet, "/api/v1/connectors/"+c.Slug, nil).want(http.StatusOK)
	if diff := cmp.Diff(byID, bySlug); diff != "" || byID["id"] != c.ID.String() {
		t.Error(diff, byID)
	}
}

func TestTakenNamesAreConflicts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, taken := w.createKey(t, connectors.RoleAdmin), w.Connector(t)
	doc := map[string]any{"name": "Another", "slug": taken.Slug, "url": "https://mcp.example.com/"}
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", doc).problem(http.StatusConflict, "conflict")
	doc = map[string]any{"name": taken.Name, "url": "https://mcp.example.com/"}
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", doc).problem(http.StatusConflict, "conflict")
}

func TestPatchKeepsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	made := w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Linear", "url": "https://mcp.example.com/", "headers": map[string]string{"X-A": "1", "X-B": "2"},
		"auth": map[string]any{"type": "bearer", "token": "t-1"}, "timeout_ms": 5000,
	}).want(http.StatusCreated)
	path := "/api/v1/connectors/" + made["id"].(string)

	changed := w.call(t, admin, http.MethodPatch, path, map[string]any{"headers": map[string]string{"X-C": "3"}}).want(http.StatusOK)
	if diff := cmp.Diff(map[string]any{"X-C": "3"}, changed["headers"]); diff != "" {
		t.Errorf("headers are replaced whole: %s", diff)
	}
	same := cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "headers" || k == "updated_at" || k == "health" })
	if diff := cmp.Diff(made, changed, same); diff != "" {
		t.Error(diff)
	}
	if _, ok := changed["notices"]; ok {
		t.Errorf("notices: %v", changed["notices"])
	}
	empty := w.call(t, admin, http.MethodPatch, path, `{}`).want(http.StatusOK)
	if diff := cmp.Diff(changed, empty, same); diff != "" {
		t.Error(diff)
	}
	cleared := w.call(t, admin, http.MethodPatch, path, `{"headers": {}, "retry_attempts": 0, "enabled": false}`).want(http.StatusOK)
	if cleared["retry_attempts"] != 0.0 || cleared["enabled"] != false || len(cleared["headers"].(map[string]any)) != 0 {
		t.Errorf("%v", cleared)
	}
	if cleared["status"] != "disabled" {
		t.Errorf("status %v", cleared["status"])
	}
}

func TestPatchKeepsTheSecretWhileTheTypeStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	made := w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Linear", "url": "https://mcp.example.com/", "auth": map[string]any{"type": "bearer", "token": "t-1"},
	}).want(http.StatusCreated)
	path := "/api/v1/connectors/" + made["id"].(string)
	stored := func() int {
		return len(w.call(t, admin, http.MethodGet, path+"/credentials", nil).want(http.StatusOK)["items"].([]any))
	}
	w.call(t, admin, http.MethodPatch, path, `{"auth": {"type": "bearer"}, "name": "Other"}`).want(http.StatusOK)
	if stored() != 1 {
		t.Error("the secret is gone")
	}
	refused := w.call(t, admin, http.MethodPatch, path, `{"auth": {"type": "api_key"}}`)
	refused.problem(http.StatusUnprocessableEntity, "invalid")
	if diff := cmp.Diff([]string{"auth.key"}, refused.locations()); diff != "" {
		t.Error(diff)
	}
	refused = w.call(t, admin, http.MethodPatch, path, `{"url": "https://other.example.com/"}`)
	if problem := refused.problem(http.StatusConflict, "confirmation-required"); problem["code"] != "confirmation_required" || stored() != 1 {
		t.Errorf("%v, %d secrets", problem, stored())
	}
	if !strings.Contains(string(refused.body), "Deletes the stored secret.") {
		t.Errorf("%s", refused.body)
	}
	moved := w.call(t, admin, http.MethodPatch, path, `{"url": "https://other.example.com/", "confirm": true}`).want(http.StatusOK)
	if notices, _ := moved["notices"].([]any); len(notices) != 1 || stored() != 0 {
		t.Errorf("notices %v, %d secrets", moved["notices"], stored())
	}
}

func TestPatchOfOnePartOfABasicCredential(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	made := w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Wiki", "url": "https://mcp.example.com/", "auth": map[string]any{"type": "basic", "username": "ann", "password": "p-1"},
	}).want(http.StatusCreated)
	path := "/api/v1/connectors/" + made["slug"].(string)
	secret := func() connectors.Secret {
		id := w.connectorID(t, made["id"])
		_, text, err := w.St.Vault(w.Tenant).Secret(t.Context(), id, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := connectors.DecodeSecret(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, step := range []struct {
		patch    string
		status   int
		username string
		password string
	}{
		{`{"auth": {"password": "p-2"}}`, http.StatusOK, "ann", "p-2"},
		{`{"auth": {"username": "ann"}}`, http.StatusOK, "ann", "p-2"},
		{`{"auth": {"username": "bob"}}`, http.StatusUnprocessableEntity, "ann", "p-2"},
		{`{"auth": {"username": "bob", "password": ""}}`, http.StatusOK, "bob", ""},
	} {
		w.call(t, admin, http.MethodPatch, path, step.patch).want(step.status)
		if s := secret(); s.Username != step.username || s.Password.Reveal() != step.password {
			t.Errorf("after %s: %s, %s", step.patch, s.Username, s.Password.Reveal())
		}
	}
}

func TestDeleteTakesTheConnectorAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, admin := w.Connector(t), w.createKey(t, connectors.RoleAdmin)
	path := "/api/v1/connectors/" + c.ID.String()
	if got := w.call(t, admin, http.MethodDelete, path, nil); got.status != http.StatusNoContent || len(got.body) != 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.call(t, admin, http.MethodDelete, path, nil).problem(http.StatusNotFound, "not-found")
	w.call(t, admin, http.MethodGet, path, nil).problem(http.StatusNotFound, "not-found")
}

func TestListsGoOnWhereTheCursorSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	want := map[string]bool{}
	for range 5 {
		want[w.Connector(t).ID.String()] = true
	}
	got, cursor := map[string]bool{}, ""
	for pages := 1; ; pages++ {
		doc := w.call(t, viewer, http.MethodGet, "/api/v1/connectors?limit=2&cursor="+cursor, nil).want(http.StatusOK)
		for _, item := range doc["items"].([]any) {
			got[item.(map[string]any)["id"].(string)] = true
		}
		if doc["next_cursor"] == nil {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		cursor = doc["next_cursor"].(string)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnEmptyListIsAListAndNoNull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, "/api/v1/connectors", nil)
	if string(got.body) != `{"items":[],"next_cursor":null}`+"\n" {
		t.Errorf("%s", got.body)
	}
}

func TestListsRefuseInventedCursorsAndLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, c := w.createKey(t, connectors.RoleOwner), w.Connector(t)
	for _, list := range []string{
		"/api/v1/connectors", "/api/v1/tools", "/api/v1/tool_changes", "/api/v1/agents", "/api/v1/api_keys", "/api/v1/members",
		"/api/v1/connectors/" + c.Slug + "/tools", "/api/v1/connectors/" + c.Slug + "/tools?quarantined=true",
		"/api/v1/connectors/" + c.Slug + "/sync_runs", "/api/v1/connectors/" + c.Slug + "/credentials",
	} {
		with := func(query string) string {
			if list[len(list)-1] == 'e' {
				return list + "&" + query
			}
			return list + "?" + query
		}
		for _, cursor := range []string{"invented", "aW52ZW50ZWQ", "%00", "e30"} {
			w.call(t, owner, http.MethodGet, with("cursor="+cursor), nil).problem(http.StatusBadRequest, "malformed")
		}
		for _, limit := range []string{"0", "-1", "201", "many", "1e2", "99999999999999999999"} {
			got := w.call(t, owner, http.MethodGet, with("limit="+limit), nil)
			got.problem(http.StatusUnprocessableEntity, "invalid")
			if diff := cmp.Diff([]string{"limit"}, got.locations()); diff != "" {
				t.Error(diff)
			}
		}
		w.call(t, owner, http.MethodGet, with("limit=200"), nil).want(http.StatusOK)
		w.call(t, owner, http.MethodGet, with("limit=1"), nil).want(http.StatusOK)
	}
}

func TestConnector_SecretMayFollowLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.createKey(t, connectors.RoleAdmin)
	w.call(t, key, http.MethodPost, "/api/v1/connectors", `{"name":"Notes","url":"https://mcp.example.com/","auth":{"type":"bearer"}}`).problem(http.StatusUnprocessableEntity, "invalid")
	made := w.call(t, key, http.MethodPost, "/api/v1/connectors", `{"name":"Notes","url":"https://mcp.example.com/","auth":{"type":"bearer"},"secret_later":true}`).want(http.StatusCreated)
	if made["slug"] != "notes" || made["auth"].(map[string]any)["type"] != "bearer" {
		t.Errorf("made %v", made)
	}
	w.call(t, key, http.MethodPatch, "/api/v1/connectors/notes", `{"auth":{"type":"api_key"}}`).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, key, http.MethodPatch, "/api/v1/connectors/notes", `{"auth":{"type":"api_key"},"secret_later":true}`).want(http.StatusOK)
	if got := w.call(t, key, http.MethodPut, "/api/v1/connectors/notes/credential", `{"key":"s3cret"}`); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestConnectors_StatusFollowsADeletedCredential(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	for _, auth := range []string{
		`{"type": "bearer", "token": "t"}`, `{"type": "api_key", "key": "k"}`, `{"type": "basic", "username": "u", "password": "p"}`,
	} {
		made := w.call(t, admin, http.MethodPost, "/api/v1/connectors", `{"name": "Of `+auth[10:13]+`", "url": "https://mcp.example.com/`+auth[10:13]+`", "auth": `+auth+`}`).want(http.StatusCreated)
		path := "/api/v1/connectors/" + made["slug"].(string)
		c, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(made["slug"].(string)))
		if err != nil {
			t.Fatal(err)
		}
		w.Synced(t, c.ID, "search")
		for _, want := range []string{"ok", "needs_auth"} {
			one := w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)
			found := w.call(t, admin, http.MethodGet, "/api/v1/connectors?status="+want+"&q="+made["slug"].(string), nil).want(http.StatusOK)
			if one["status"] != want || len(found["items"].([]any)) != 1 {
				t.Errorf("%s: %v, want %s; %d found", auth, one["status"], want, len(found["items"].([]any)))
			}
			if want == "ok" {
				w.call(t, admin, http.MethodDelete, path+"/credential", nil)
			}
		}
	}
	overview := w.call(t, admin, http.MethodGet, "/api/v1/overview", nil).want(http.StatusOK)
	byStatus, waiting := overview["connectors"].(map[string]any), overview["needs"].(map[string]any)
	if byStatus["needs_auth"] != 3.0 || waiting["authorization"] != 3.0 {
		t.Errorf("overview: %v, %v", byStatus, waiting)
	}
}

func TestConnectors_VanishedToolsAreShownUntilAcknowledged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	c := w.Connector(t)
	path := "/api/v1/connectors/" + c.Slug
	w.Synced(t, c.ID, "search", "create")
	w.Resynced(t, c.ID)
	shown, _ := w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)["tools_vanished"].(map[string]any)
	if shown["tools"] != 2.0 || shown["of"] != 2.0 || !isTime(shown["at"]) {
		t.Errorf("%v", shown)
	}
	waiting := func() any {
		return w.call(t, admin, http.MethodGet, "/api/v1/overview", nil).want(http.StatusOK)["needs"].(map[string]any)["tools"]
	}
	if n := waiting(); n != 1.0 {
		t.Errorf("%v need a person", n)
	}
	for range 2 { // the second changes nothing
		if after := w.call(t, admin, http.MethodPost, path+"/acknowledge_tools", nil).want(http.StatusOK); after["tools_vanished"] != nil {
			t.Errorf("%v", after["tools_vanished"])
		}
	}
	if n := waiting(); n != 0.0 {
		t.Errorf("%v need a person", n)
	}
}
