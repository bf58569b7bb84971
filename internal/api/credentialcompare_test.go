package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestASecretIsComparedAndNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent := w.createKey(t, connectors.RoleAdmin), w.Agent(t)
	with := func(auth connectors.AuthType, mode connectors.CredentialMode) string {
		c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = auth, mode })
		return "/api/v1/connectors/" + c.Slug
	}
	shared, each := with(connectors.AuthBasic, connectors.CredentialShared)+"/credential", with(connectors.AuthBearer, connectors.CredentialPerAgent)+"/agents/"+agent.Slug+"/credential"
	compare := func(path, body string, same bool) {
		t.Helper()
		got := w.call(t, admin, http.MethodPost, path+"/compare", body).want(http.StatusOK)
		if diff := cmp.Diff(map[string]any{"same": same}, got); diff != "" {
			t.Errorf("%s %s: %s", path, body, diff)
		}
	}
	compare(shared, `{"username": "ann", "password": "p-1"}`, false)
	w.call(t, admin, http.MethodPut, shared, `{"username": "ann", "password": "p-1"}`)
	w.call(t, admin, http.MethodPut, each, `{"token": "t-1"}`)
	compare(shared, `{"username": "ann", "password": "p-1"}`, true)
	compare(shared, `{"username": "ann", "password": "p-2"}`, false)
	compare(shared, `{"username": "bob", "password": "p-1"}`, false)
	compare(shared, `{"username": "ann"}`, false)
	compare(each, `{"token": " t-1 "}`, true) // as it is stored: without surrounding space
	compare(each, `{"token": "t-10"}`, false)

	// Guesses are limited, correct values are not.
	for range 60 {
		compare(each, `{"token": "t-1"}`, true)
	}
	for n := range 100 {
		got := w.call(t, admin, http.MethodPost, each+"/compare", fmt.Sprintf(`{"token": "guess-%d"}`, n))
		if got.status == http.StatusTooManyRequests && n >= 55 && got.header.Get("Retry-After") != "" {
			break
		}
		if got.status != http.StatusOK || n == 99 {
			t.Fatalf("guess %d is answered %d", n, got.status)
		}
	}
	compare(shared, `{"username": "ann", "password": "p-1"}`, true)

	w.call(t, admin, http.MethodPost, shared+"/compare", `{"token": "t-1"}`).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodPost, with(connectors.AuthNone, connectors.CredentialShared)+"/credential/compare", `{"token": "t"}`).problem(http.StatusConflict, "conflict")
	w.call(t, w.createKey(t, connectors.RoleMember), http.MethodPost, shared+"/compare", `{"username": "ann", "password": "p-1"}`).problem(http.StatusForbidden, "denied")
}
