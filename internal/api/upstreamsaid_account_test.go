package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// wantSaid checks the upstream of a document; empty words: none are shown.
func wantSaid(t *testing.T, where string, doc map[string]any, words string) {
	t.Helper()
	got, _ := doc["upstream"].(map[string]any)
	said, _ := got["said"].(string)
	if got["status"] != 400.0 || !strings.Contains(said, words) || (words == "") != (said == "") {
		t.Errorf("%s: %v, want %q", where, got, words)
	}
}

func TestUpstreamSaid_OfAnEndedAccount(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.connectAccount(t, nil)
	a.as.ExpireAccess()
	a.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.DeadEcho })
	admin := a.createKey(t, connectors.RoleAdmin)
	const words = "consent was withdrawn"
	problem := a.call(t, admin, http.MethodPost, a.path+"/sync_tools", nil).problem(http.StatusConflict, "credential-required")
	if up, _ := problem["upstream"].(map[string]any); !strings.Contains(up["said"].(string), words) {
		t.Errorf("the problem: %v", problem)
	}
	items := func(path string) []map[string]any {
		t.Helper()
		return listItems(a.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK))
	}
	wantSaid(t, "run", items(a.path + "/sync_runs")[0], words)
	wantSaid(t, "credential", items(a.path + "/credentials")[0], words)
	wantSaid(t, "notice", items("/api/v1/notices")[0], words)
	everything := a.RowTexts(t)
	if strings.Count(everything, words) < 3 {
		t.Error("it is not stored")
	}
	for _, issued := range a.as.Issued() {
		if strings.Contains(everything, issued) {
			t.Errorf("%s is stored", issued)
		}
	}
	if strings.Contains(a.log.String(), words) {
		t.Error("the log has it")
	}
}

// The words may name the person: they are for the same readers as the account's name.
func TestUpstreamSaid_OfAMembersAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	oauthPerAgent := func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 }
	mine, c := w.createOwnAgent(t, ada, oauthPerAgent)
	err := w.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: c.ID, AgentID: &mine.ID, Origin: connectors.Origin(c.URL), GrantTokens: store.GrantTokens{AccessToken: "t", ExpiresAt: new(time.Now().Add(time.Hour))},
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := w.St.Vault(w.Tenant).Grant(t.Context(), c.ID, &mine.ID)
	if err != nil {
		t.Fatal(err)
	}
	const words = "ada@provider.example left"
	if _, err := w.St.Vault(w.Tenant).RefuseGrant(t.Context(), g.ID, g.Version, store.GrantMeta{}, "It ended.", &connectors.Upstream{Said: words, Status: 400}); err != nil {
		t.Fatal(err)
	}
	list, notices, accounts := "/api/v1/connectors/"+c.Slug+"/credentials", "/api/v1/notices", "/api/v1/agents/"+mine.Slug+"/accounts"
	her := w.signIn(t, ada.UserID)
	wantSaid(t, "credential, to herself", listItems(w.callInSession(t, her, http.MethodGet, list, nil).want(http.StatusOK))[0], words)
	wantSaid(t, "account, to herself", listItems(w.callInSession(t, her, http.MethodGet, accounts, nil).want(http.StatusOK))[0], words)
	for _, role := range connectors.Roles {
		want := ""
		if role.May(connectors.PermManage) {
			want = words
		}
		key := w.createKey(t, role)
		wantSaid(t, "credential, to "+string(role), listItems(w.call(t, key, http.MethodGet, list, nil).want(http.StatusOK))[0], want)
		wantSaid(t, "filtered, to "+string(role), listItems(w.call(t, key, http.MethodGet, list+"?status=attention", nil).want(http.StatusOK))[0], want)
		wantSaid(t, "notice, to "+string(role), listItems(w.call(t, key, http.MethodGet, notices, nil).want(http.StatusOK))[0], want)
	}
}
