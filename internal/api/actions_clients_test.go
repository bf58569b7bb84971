package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

func newAuthServer(w *world, egress *safehttp.Policy) *authserver.Server {
	return authserver.New(authserver.Options{Store: w.St, Auth: w.auth, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: baseURL})
}

// clientActions are the actions about OAuth clients.
var clientActions = map[string]actionCase{
	"usage.reset":        {thing: "usage", prepare: requestAction("POST", "/api/v1/usage/reset", nil)},
	"agent_client.allow": {thing: "program", prepare: authorizeProgram("/mcp")},
	"agent_client.end":   {thing: "program", prepare: requestAction("DELETE", "/api/v1/agents/{id}/clients/{client_id}", nil)},
	"agent_workload.create": {thing: "workload", prepare: requestAction("POST", "/api/v1/agents/{id}/workloads",
		`{"name": "A", "issuer": "https://issuer.example.com", "subject": "a", "keys": `+workloadKeys+`}`)},
	"agent_workload.delete": {thing: "workload", prepare: requestAction("DELETE", "/api/v1/agents/{id}/workloads/{workload}", nil)},
	"agent_workload.refuse": {alsoChanges: true, prepare: replayAssertion},
	"member_client.allow":   {thing: "program", prepare: authorizeProgram("/mcp/admin")},
	"member_client.end":     {thing: "program", prepare: requestAction("DELETE", "/api/v1/members/{id}/clients/{client_id}", nil)},
	"signing_key.create":    {prepare: requestAfter(allowTokenExchange, "POST", "/api/v1/connectors", exchangingConnector)},
	"signing_key.delete": {prepare: requestAfter(func(t *testing.T, w *world, ids targets, key string) {
		t.Helper()
		allowTokenExchange(t, w, ids, key)
		if err := w.sendRequest(t, key, "POST", "/api/v1/connectors", exchangingConnector)(); err != nil {
			t.Fatal(err)
		}
	}, "PATCH", "/api/v1/tenant", `{"token_exchange": false}`)},
}

const exchangingConnector = `{"name": "Billing", "url": "https://mcp.example.com/mcp", "credential_mode": "per_agent",
	"auth": {"type": "oauth2", "client_id": "patchbay", "issuer": "https://auth.example.com", "token_exchange": "act_claim"}}`

func allowTokenExchange(t *testing.T, w *world, _ targets, key string) {
	t.Helper()
	if err := w.sendRequest(t, key, "PATCH", "/api/v1/tenant", `{"token_exchange": true}`)(); err != nil {
		t.Fatal(err)
	}
}

// authorizeProgram authorizes a program for a resource.
func authorizeProgram(resource string) func(t *testing.T, w *world) func() error {
	return func(t *testing.T, w *world) func() error {
		t.Helper()
		s, id := newAuthServer(w, safehttp.New(safehttp.Options{Mode: safehttp.Local})), uuid.New()
		registered := store.MCPClient{ID: id, Name: "Inspector", RedirectURIs: []string{"http://127.0.0.1/cb"}, CreatedAt: time.Now()}
		if err := w.St.System().Sessions().RegisterClient(t.Context(), registered, "", store.RegistrationLimits{PerNetwork: 1, Waiting: 1}); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte("verifier"))
		asked, err := s.Request(t.Context(), url.Values{
			"client_id": {id.String()}, "redirect_uri": {"http://127.0.0.1/cb"}, "response_type": {"code"}, "resource": {baseURL + resource},
			"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		})
		if err != nil {
			t.Fatal(err)
		}
		actor, m := w.newOperator(t), w.Member(t, connectors.RoleAdmin)
		actor.Kind, actor.UserID, actor.Email = auth.KindPerson, &m.UserID, m.Email
		choice := authserver.Choice{Agent: connectors.Ref(w.Agent(t).Slug)}
		if asked.AsMember() {
			choice = authserver.Choice{Scope: connectors.ScopeAdminRead}
		}
		return func() error {
			_, err := s.Allow(context.WithoutCancel(t.Context()), actor, asked, choice)
			return err
		}
	}
}
