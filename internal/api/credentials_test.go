package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestACredentialIsWrittenAndNeverReadBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBasic })
	path := "/api/v1/connectors/" + c.Slug

	got := w.call(t, admin, http.MethodPut, path+"/credential", `{"username": "ann", "password": "p-1"}`)
	if got.status != http.StatusNoContent || len(got.body) != 0 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	list := w.call(t, admin, http.MethodGet, path+"/credentials", nil).want(http.StatusOK)
	want := map[string]any{
		"name": "default", "syncs": true, "agent_id": nil, "agent": "", "agent_name": "", "type": "basic", "status": "active", "account": "ann", "identity": nil, "scopes": []any{},
		"expires_at": nil, "refreshed_at": nil, "last_used_at": nil, "error": nil, "upstream": nil,
	}
	if diff := cmp.Diff(map[string]any{"items": []any{want}, "next_cursor": nil}, list); diff != "" {
		t.Error(diff)
	}
	if got := w.call(t, admin, http.MethodDelete, path+"/credential", nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.call(t, admin, http.MethodDelete, path+"/credential", nil).problem(http.StatusNotFound, "not-found")
}

func TestListCredentials_FiltersByStatusAndName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	c := w.Connector(t, func(d *connectors.Draft) {
		d.Auth.Type, d.CredentialMode = connectors.AuthBearer, connectors.CredentialPerAgent
	})
	shared := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	for _, name := range []string{"Anna", "Bert", "Cora", "Dirk"} {
		a := w.Agent(t, func(a *connectors.Agent) { a.Name = name })
		w.Grant(t, a.ID, c.ID)
		if name < "C" {
			w.Credential(t, c.ID, &a.ID, `{"token":"x"}`)
		}
	}
	w.Agent(t, func(a *connectors.Agent) { a.Name = "Erna" }) // was not granted the connector
	names := func(path string) (names []string, cursor string) {
		t.Helper()
		list := w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK)
		for _, item := range list["items"].([]any) {
			one := item.(map[string]any)
			names = append(names, one["agent_name"].(string)+":"+one["type"].(string)+":"+one["status"].(string))
		}
		cursor, _ = list["next_cursor"].(string)
		return names, cursor
	}
	path := "/api/v1/connectors/" + c.Slug + "/credentials"
	for query, want := range map[string][]string{
		"":                        {"Anna:bearer:active", "Bert:bearer:active"},
		"?status=connected":       {"Anna:bearer:active", "Bert:bearer:active"},
		"?status=missing":         {"Cora:bearer:missing", "Dirk:bearer:missing"},
		"?status=attention":       nil,
		"?q=ER":                   {"Bert:bearer:active"},
		"?q=r&status=missing":     {"Cora:bearer:missing", "Dirk:bearer:missing"},
		"?q=nobody":               nil,
		"?q=cora&status=missing":  {"Cora:bearer:missing"},
		"?limit=1&status=missing": {"Cora:bearer:missing"},
	} {
		if have, _ := names(path + query); !cmp.Equal(want, have) {
			t.Errorf("%s lists %v, want %v", query, have, want)
		}
	}
	_, cursor := names(path + "?limit=1&status=missing")
	if have, end := names(path + "?limit=1&status=missing&cursor=" + cursor); !cmp.Equal(have, []string{"Dirk:bearer:missing"}) || end != "" {
		t.Errorf("the second page has %v, and %q follows", have, end)
	}
	w.call(t, viewer, http.MethodGet, path+"?cursor="+cursor, nil).problem(http.StatusBadRequest, "malformed")
	w.call(t, viewer, http.MethodGet, path+"?status=dead", nil).problem(http.StatusUnprocessableEntity, "invalid")

	path = "/api/v1/connectors/" + shared.Slug + "/credentials"
	if have, _ := names(path + "?status=missing"); !cmp.Equal(have, []string{":bearer:missing"}) {
		t.Errorf("without a shared credential: %v", have)
	}
	w.Credential(t, shared.ID, nil, `{"token":"x"}`)
	for query, want := range map[string][]string{"?status=missing": nil, "?status=connected": {":bearer:active"}, "?status=attention": nil, "?q=a": nil} {
		if have, _ := names(path + query); !cmp.Equal(want, have) {
			t.Errorf("shared, %s lists %v, want %v", query, have, want)
		}
	}
}

func TestACredentialFitsTheTypeAndTheMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent := w.createKey(t, connectors.RoleAdmin), w.Agent(t)
	with := func(auth connectors.AuthType, mode connectors.CredentialMode) string {
		c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = auth, mode })
		return "/api/v1/connectors/" + c.Slug
	}
	bearer := with(connectors.AuthBearer, connectors.CredentialShared)
	perAgent := with(connectors.AuthBearer, connectors.CredentialPerAgent)
	open := with(connectors.AuthNone, connectors.CredentialShared)
	forAgent := "/agents/" + agent.Slug + "/credential"
	for _, test := range []struct {
		path, body string
		status     int
		at         []string
	}{
		{bearer + "/credential", `{"token": "t"}`, http.StatusNoContent, nil},
		{bearer + "/credential", `{}`, http.StatusUnprocessableEntity, []string{"token"}},
		{bearer + "/credential", `{"token": ""}`, http.StatusUnprocessableEntity, []string{"token"}},
		{bearer + "/credential", `{"token": null}`, http.StatusUnprocessableEntity, []string{"token"}},
		{bearer + "/credential", `{"key": "k"}`, http.StatusUnprocessableEntity, []string{"token", "key"}},
		{bearer + "/credential", `{"token": "t", "type": "bearer"}`, http.StatusUnprocessableEntity, []string{"type"}},
		{bearer + forAgent, `{"token": "t"}`, http.StatusConflict, nil},
		{perAgent + "/credential", `{"token": "t"}`, http.StatusConflict, nil},
		{perAgent + forAgent, `{"token": "t"}`, http.StatusNoContent, nil},
		{open + "/credential", `{"token": "t"}`, http.StatusConflict, nil},
	} {
		got := w.call(t, admin, http.MethodPut, test.path, test.body)
		if got.status != test.status {
			t.Errorf("%s %s: %d, want %d: %s", test.path, test.body, got.status, test.status, got.body)
			continue
		}
		if test.status == http.StatusUnprocessableEntity {
			if diff := cmp.Diff(test.at, got.locations()); diff != "" {
				t.Errorf("%s: %s", test.body, diff)
			}
		}
	}
}
