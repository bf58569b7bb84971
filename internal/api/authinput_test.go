package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// oauthConnector creates a connector with that auth and returns its path.
func (w *world) oauthConnector(t *testing.T, key string, auth map[string]any) string {
	t.Helper()
	made := w.call(t, key, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Tracker", "url": "https://mcp.example.com/mcp", "auth": auth,
	}).want(http.StatusCreated)
	return "/api/v1/connectors/" + made["id"].(string)
}

func TestAuthAnswersEverySettingAndNoSecret(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ auth, secrets map[string]any }{
		"oauth2, all found out": {map[string]any{"type": "oauth2"}, nil},
		"oauth2, all set": {map[string]any{
			"type": "oauth2", "client_id": "client-1", "scopes": []any{"read", "write"}, "issuer": "https://auth.example.com",
			"authorization_endpoint": "https://auth.example.com/authorize", "token_endpoint": "https://auth.example.com/token",
			"resource": "", "token_endpoint_auth_method": "client_secret_post", "allow_missing_pkce_metadata": true,
		}, map[string]any{"client_secret": "s-1"}},
		"client_credentials": {map[string]any{
			"type": "client_credentials", "client_id": "client-1", "scopes": []any{"read"}, "issuer": "https://auth.example.com",
			"resource": "https://mcp.example.com/",
		}, map[string]any{"client_secret": "s-1"}},
		"private_key_jwt": {map[string]any{
			"type": "private_key_jwt", "client_id": "client-1", "algorithm": "ES256",
		}, map[string]any{"private_key": privateKey(t)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			admin := w.createKey(t, connectors.RoleAdmin)
			sent := map[string]any{}
			for _, part := range []map[string]any{test.auth, test.secrets} {
				for field, value := range part {
					sent[field] = value
				}
			}
			path := w.oauthConnector(t, admin, sent)
			got := w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)
			if diff := cmp.Diff(test.auth, got["auth"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAuthFieldsThatDoNotFitAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	for auth, want := range map[string][]string{
		`{"type": "oauth2", "token": "t"}`:                                                             {"auth.token"},
		`{"type": "oauth2", "algorithm": "ES256"}`:                                                     {"auth.algorithm"},
		`{"type": "oauth2", "client_secret": "s"}`:                                                     {"auth.client_id"},
		`{"type": "oauth2", "client_id": null}`:                                                        {"auth.client_id"},
		`{"type": "oauth2", "scopes": "read"}`:                                                         {"auth.scopes"},
		`{"type": "oauth2", "scopes": null}`:                                                           {"auth.scopes"},
		`{"type": "oauth2", "scopes": ["two words"]}`:                                                  {"auth.scopes"},
		`{"type": "oauth2", "scopes": [1]}`:                                                            {"auth.scopes[0]"},
		`{"type": "oauth2", "resource": 1}`:                                                            {"auth.resource"},
		`{"type": "oauth2", "resource": "not an address"}`:                                             {"auth.resource"},
		`{"type": "oauth2", "issuer": "auth.example.com"}`:                                             {"auth.issuer"},
		`{"type": "oauth2", "issuer": "https://169.254.169.254/"}`:                                     {"auth.issuer"},
		`{"type": "oauth2", "token_endpoint": "https://169.254.169.254/"}`:                             {"auth.token_endpoint"},
		`{"type": "oauth2", "authorization_endpoint": "https://u:p@example.com/"}`:                     {"auth.authorization_endpoint"},
		`{"type": "oauth2", "token_endpoint_auth_method": "private_key_jwt"}`:                          {"auth.token_endpoint_auth_method"},
		`{"type": "oauth2", "allow_missing_pkce_metadata": "yes"}`:                                     {"auth.allow_missing_pkce_metadata"},
		`{"type": "client_credentials"}`:                                                               {"auth.client_id", "auth.client_secret"},
		`{"type": "client_credentials", "client_id": "c"}`:                                             {"auth.client_secret"},
		`{"type": "client_credentials", "client_id": "c", "private_key": "k"}`:                         {"auth.client_secret", "auth.private_key"},
		`{"type": "client_credentials", "client_id": "c", "client_secret": "s", "algorithm": "ES256"}`: {"auth.algorithm"},
		`{"type": "private_key_jwt", "client_id": "c"}`:                                                {"auth.private_key"},
		`{"type": "private_key_jwt", "client_id": "c", "private_key": "no key"}`:                       {"auth.private_key"},
		`{"type": "bearer", "token": "t", "client_id": "c"}`:                                           {"auth.client_id"},
	} {
		t.Run(auth, func(t *testing.T) {
			t.Parallel()
			got := w.call(t, admin, http.MethodPost, "/api/v1/connectors", linearDocument(`"auth": `+auth))
			got.problem(http.StatusUnprocessableEntity, "invalid")
			if diff := cmp.Diff(want, got.locations()); diff != "" {
				t.Errorf("locations (-want +got):\n%s%s", diff, got.body)
			}
		})
	}
}

func TestAPatchOfAuthKeepsChangesAndClears(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	path := w.oauthConnector(t, admin, map[string]any{
		"type": "oauth2", "client_id": "client-1", "client_secret": "s-1", "scopes": []string{"read"},
		"issuer": "https://auth.example.com", "resource": "",
	})
	for _, step := range []struct {
		patch string
		want  map[string]any
	}{
		{`{}`, map[string]any{"type": "oauth2", "client_id": "client-1", "scopes": []any{"read"}, "issuer": "https://auth.example.com", "resource": ""}},
		{`{"auth": {"scopes": ["write"]}}`, map[string]any{"type": "oauth2", "client_id": "client-1", "scopes": []any{"write"}, "issuer": "https://auth.example.com", "resource": ""}},
		{`{"auth": {"type": "oauth2", "scopes": [], "resource": null}}`, map[string]any{"type": "oauth2", "client_id": "client-1", "issuer": "https://auth.example.com"}},
		{`{"auth": {"issuer": "", "resource": "https://mcp.example.com/"}}`, map[string]any{"type": "oauth2", "client_id": "client-1", "resource": "https://mcp.example.com/"}},
		{`{"auth": {"client_id": ""}}`, map[string]any{"type": "oauth2", "resource": "https://mcp.example.com/"}},
		{`{"auth": {"type": "bearer", "token": "t"}}`, map[string]any{"type": "bearer"}},
		{`{"auth": {"type": "oauth2"}}`, map[string]any{"type": "oauth2"}},
	} {
		got := w.call(t, admin, http.MethodPatch, path, step.patch).want(http.StatusOK)
		if diff := cmp.Diff(step.want, got["auth"]); diff != "" {
			t.Errorf("%s: %s", step.patch, diff)
		}
	}
}

func TestAnotherMachineNeedsItsSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	path := w.oauthConnector(t, admin, map[string]any{"type": "client_credentials", "client_id": "client-1", "client_secret": "s-1"})
	refused := w.call(t, admin, http.MethodPatch, path, `{"auth": {"client_id": "client-2"}}`)
	refused.problem(http.StatusUnprocessableEntity, "invalid")
	if diff := cmp.Diff([]string{"auth.client_secret"}, refused.locations()); diff != "" {
		t.Error(diff)
	}
	for _, patch := range []string{
		`{"auth": {"client_id": "client-1"}}`, `{"auth": {"client_secret": "s-2"}}`, `{"auth": {"client_id": "client-2", "client_secret": "s-3"}}`,
	} {
		got := w.call(t, admin, http.MethodPatch, path, patch).want(http.StatusOK)
		if got["notices"] != nil {
			t.Errorf("%s: %v", patch, got["notices"])
		}
		list := w.call(t, admin, http.MethodGet, path+"/credentials", nil).want(http.StatusOK)["items"].([]any)
		if len(list) != 1 || list[0].(map[string]any)["type"] != "client_credentials" {
			t.Errorf("%s: %v", patch, list)
		}
	}
}

func TestOAuthCredentialsGoWhereTheyBelong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent := w.createKey(t, connectors.RoleAdmin), w.Agent(t)
	with := func(mode connectors.CredentialMode, auth connectors.AuthType, client string) string {
		c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode, d.OAuth.ClientID = auth, mode, client })
		return "/api/v1/connectors/" + c.Slug
	}
	named := with(connectors.CredentialPerAgent, connectors.AuthOAuth2, "client-1")
	unnamed := with(connectors.CredentialShared, connectors.AuthOAuth2, "")
	machine := with(connectors.CredentialShared, connectors.AuthClientCredentials, "client-1")
	each := with(connectors.CredentialPerAgent, connectors.AuthClientCredentials, "")
	forAgent := "/agents/" + agent.Slug + "/credential"
	for _, test := range []struct {
		path, body string
		status     int
		at         []string
	}{
		{named + "/credential", `{"client_secret": "s"}`, http.StatusNoContent, nil},
		{named + "/credential", `{"client_secret": "s", "client_id": "c"}`, http.StatusUnprocessableEntity, []string{"client_id"}},
		{named + "/credential", `{"token": "s"}`, http.StatusUnprocessableEntity, []string{"token", "client_secret"}},
		{named + forAgent, `{"client_secret": "s"}`, http.StatusConflict, nil},
		{unnamed + "/credential", `{"client_secret": "s"}`, http.StatusConflict, nil},
		{machine + "/credential", `{"client_secret": "s"}`, http.StatusNoContent, nil},
		{machine + "/credential", `{"client_id": "own", "client_secret": "s"}`, http.StatusNoContent, nil},
		{machine + "/credential", `{"private_key": "s"}`, http.StatusUnprocessableEntity, []string{"client_secret", "private_key"}},
		{each + forAgent, `{"client_secret": "s"}`, http.StatusUnprocessableEntity, []string{"client_id"}},
		{each + forAgent, `{"client_id": "own", "client_secret": "s"}`, http.StatusNoContent, nil},
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
