package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestIdentity_IsForMemberAndManagers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.Member(t, connectors.RoleMember)
	mine, c := w.createOwnAgent(t, ada, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 })
	identity := connectors.Identity{
		Issuer: "https://as.example", Subject: "7", Name: "ada@provider.example", Email: "ada@provider.example", OrganisationID: "o-1", Organisation: "Example",
	}
	err := w.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: c.ID, AgentID: &mine.ID, Name: "work", Origin: connectors.Origin(c.URL), Account: identity.Name,
		GrantTokens: store.GrantTokens{AccessToken: "token", Scopes: []string{"openid"}, Meta: store.GrantMeta{Identity: identity}},
	})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]any{
		"issuer": "https://as.example", "subject": "7", "name": "ada@provider.example", "email": "ada@provider.example", "organisation_id": "o-1", "organisation": "Example",
	}
	list, accounts := "/api/v1/connectors/"+c.Slug+"/credentials", "/api/v1/agents/"+mine.Slug+"/accounts"
	her := w.signIn(t, ada.UserID)
	for name, tc := range map[string]struct {
		got  reply
		want any
	}{
		"the credential, to its member":  {w.callInSession(t, her, http.MethodGet, list, nil), shown},
		"the account, to its member":     {w.callInSession(t, her, http.MethodGet, accounts, nil), shown},
		"the credential, to an admin":    {w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodGet, list, nil), shown},
		"the credential, filtered":       {w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodGet, list+"?status=connected", nil), shown},
		"the credential, to a viewer":    {w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, list, nil), nil},
		"the credential, to a colleague": {w.callInSession(t, w.signIn(t, w.Member(t, connectors.RoleMember).UserID), http.MethodGet, list, nil), nil},
	} {
		items := tc.got.want(http.StatusOK)["items"].([]any)
		if len(items) != 1 {
			t.Errorf("%s: %d items", name, len(items))
			continue
		}
		if diff := cmp.Diff(tc.want, items[0].(map[string]any)["identity"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got, isHere := items[0].(map[string]any)["name"]; isHere && got != c.Name && (got == "work") != (tc.want != nil) {
			t.Errorf("%s: named %q", name, got)
		}
	}
}
