package api_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestConnectPage_MembersAgentNeedsSignIn(t *testing.T) {
	t.Parallel()
	a := newAccount(t, perAgent)
	ada := a.Member(t, connectors.RoleMember)
	mine, her, admin := a.createAgentOf(t, ada, a.connector), a.signIn(t, ada.UserID), a.createKey(t, connectors.RoleAdmin)
	body := map[string]any{"agent": mine.Slug}
	page := baseURL + "/account/connections/" + mine.ID.String() + "/" + a.connector.ID.String()
	for name, ask := range map[string]func(path string) reply{
		"herself":  func(path string) reply { return a.callInSession(t, her, http.MethodPost, a.path+path, body) },
		"an admin": func(path string) reply { return a.call(t, admin, http.MethodPost, a.path+path, body) },
	} {
		if got := ask("/connect").want(http.StatusOK); got["connect_url"] != page || got["sign_in"] != true {
			t.Errorf("%s: connect_url %v, sign_in %v", name, got["connect_url"], got["sign_in"])
		}
		if got := ask("/sync_tools").problem(http.StatusConflict, "credential-required"); got["connect_url"] != page {
			t.Errorf("%s: connect_url %v of a sync", name, got["connect_url"])
		}
	}
	tenants := a.call(t, admin, http.MethodPost, a.path+"/connect", map[string]any{"agent": a.Agent(t).Slug}).want(http.StatusOK)
	if link := tenants["connect_url"].(string); !strings.HasPrefix(link, baseURL+"/connect/") || tenants["sign_in"] != false {
		t.Errorf("the organisation's agent: %v", tenants)
	}
}

func TestConnectPage_UnconfirmedSessionGetsNoLink(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	admin := a.Member(t, connectors.RoleAdmin)
	session := a.signIn(t, admin.UserID)
	link := func(got reply) string {
		t.Helper()
		url, _ := got.problem(http.StatusConflict, "credential-required")["connect_url"].(string)
		return url
	}
	if url := link(a.callInSession(t, session, http.MethodPost, a.path+"/sync_tools", nil)); !strings.HasPrefix(url, baseURL+"/connect/") {
		t.Errorf("who has just signed in gets %q", url)
	}
	a.AsSystem(t, "update browser_sessions set confirmed_at = now() - '61 minutes'::interval", nil)
	if url := link(a.callInSession(t, session, http.MethodPost, a.path+"/sync_tools", nil)); url != baseURL+"/connectors/"+a.connector.Slug+"/credentials" {
		t.Errorf("who has not confirmed gets %q", url)
	}
	if n := a.countLinks(t); n != 1 {
		t.Errorf("%d links", n)
	}
}

func (a *oauthAccount) countLinks(t *testing.T) (n int) {
	t.Helper()
	a.AsSystem(t, "select count(*) from connect_links", nil, &n)
	return n
}

func TestNoSyncUsesTheAccountOfAnotherMember(t *testing.T) {
	t.Parallel()
	a := newAccount(t, perAgent)
	ada := a.Member(t, connectors.RoleMember)
	mine, his := a.createAgentOf(t, ada, a.connector), a.signIn(t, a.Member(t, connectors.RoleMember).UserID)
	for _, query := range []string{"", "?wait=false"} {
		path, body := a.path+"/sync_tools"+query, map[string]any{"agent": mine.Slug}
		a.callInSession(t, his, http.MethodPost, path, body).problem(http.StatusForbidden, "denied")
		a.call(t, a.createKey(t, connectors.RoleMember), http.MethodPost, path, body).problem(http.StatusForbidden, "denied")
	}
	a.callInSession(t, a.signIn(t, ada.UserID), http.MethodPost, a.path+"/sync_tools", map[string]any{"agent": mine.Slug}).problem(http.StatusConflict, "credential-required")
}
