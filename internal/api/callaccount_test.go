package api_test

import (
	"net/http"
	"slices"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// saveAccount connects an account, and returns its credential's id.
func (w *world) saveAccount(t *testing.T, c connectors.Connector, agent *connectors.AgentID, name string, replaces bool) connectors.CredentialID {
	t.Helper()
	err := w.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: c.ID, AgentID: agent, Origin: connectors.Origin(c.URL), Account: name, Replaces: replaces,
		GrantTokens: store.GrantTokens{AccessToken: "token", Meta: store.GrantMeta{Identity: connectors.Identity{Issuer: "https://as.example", Subject: name, Name: name}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := w.Door().Agents().CredentialFor(t.Context(), c.ID, agent, "")
	if err != nil {
		t.Fatal(err)
	}
	return saved.ID
}

func TestToolCall_NamesAccountUntilReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, c := w.createOwnAgent(t, ada, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 })
	credential := w.saveAccount(t, c, &mine.ID, "ada@provider.example", false)
	id := w.createEndedCall(t, mine, c, func(call *connectors.ToolCall) { call.CredentialID = &credential })
	path := "/api/v1/tool_calls/" + id.String()
	account := func(got reply) any { return got.want(http.StatusOK)["account"] }
	admin, her := w.createKey(t, connectors.RoleAdmin), w.signIn(t, ada.UserID)
	if got := account(w.call(t, admin, http.MethodGet, path, nil)); got != "ada@provider.example" {
		t.Errorf("to an admin: %v", got)
	}
	if got := account(w.callInSession(t, her, http.MethodGet, path, nil)); got != "ada@provider.example" {
		t.Errorf("to the member: %v", got)
	}
	if got := account(w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, path, nil)); got != nil {
		t.Errorf("to a viewer: %v", got)
	}
	if next := w.saveAccount(t, c, &mine.ID, "other@provider.example", true); next == credential {
		t.Error("the new account has the old one's id")
	}
	if got := account(w.call(t, admin, http.MethodGet, path, nil)); got != nil {
		t.Errorf("after the account was replaced: %v", got)
	}
}

func TestApprovals_NameTheAccount(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAlwaysAsk)
	viewer := w.createKey(t, connectors.RoleViewer)
	w.createCall(t, "echo", `{"text": "please"}`).want(http.StatusCreated)
	credential := w.saveAccount(t, w.connector, nil, "team@provider.example", false)
	accounts := func() (all []any) {
		for _, item := range w.call(t, viewer, http.MethodGet, "/api/v1/approvals", nil).want(http.StatusOK)["items"].([]any) {
			all = append(all, item.(map[string]any)["account"])
		}
		return all
	}
	if got := accounts(); !slices.Equal(got, []any{nil}) {
		t.Errorf("asked without an account: %v", got)
	}
	id := w.createPendingCall(t, w.Tenant, w.agent, w.connector)
	w.createApproval(t, w.Tenant, w.agent, w.connector, id, credential)
	if got := accounts(); !slices.Equal(got, []any{"team@provider.example", nil}) {
		t.Errorf("asked with the shared account: %v", got)
	}
	w.saveAccount(t, w.connector, nil, "other@provider.example", true)
	if got := accounts(); !slices.Equal(got, []any{nil, nil}) {
		t.Errorf("after another one took its place: %v", got)
	}
}
