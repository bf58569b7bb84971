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

func letsIn(w *world, egress *safehttp.Policy) *authserver.Server {
	return authserver.New(authserver.Options{Store: w.St, Auth: w.auth, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: baseURL})
}

// clientActs are the acts about programs that sign in.
var clientActs = map[string]act{
	"usage.reset":         {thing: "usage", prepare: asks("POST", "/api/v1/usage/reset", nil)},
	"agent_client.allow":  {thing: "program", prepare: allows("/mcp")},
	"agent_client.end":    {thing: "program", prepare: asks("DELETE", "/api/v1/agents/{id}/clients/{client_id}", nil)},
	"member_client.allow": {thing: "program", prepare: allows("/mcp/admin")},
	"member_client.end":   {thing: "program", prepare: asks("DELETE", "/api/v1/members/{id}/clients/{client_id}", nil)},
}

// allows lets a program in at an address.
func allows(resource string) func(t *testing.T, w *world) func() error {
	return func(t *testing.T, w *world) func() error {
		t.Helper()
		s, id := letsIn(w, safehttp.New(safehttp.Options{Mode: safehttp.Local})), uuid.New()
		registered := store.MCPClient{ID: id, Name: "Inspector", RedirectURIs: []string{"http://127.0.0.1/cb"}, CreatedAt: time.Now()}
		if err := w.St.System().RegisterClient(t.Context(), registered, "", store.RegistrationLimits{Most: 1, Waiting: 1}); err != nil {
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
		who, m := w.operator(t), w.Member(t, connectors.RoleAdmin)
		who.Kind, who.UserID, who.Email = auth.KindPerson, &m.UserID, m.Email
		choice := authserver.Choice{Agent: connectors.Ref(w.Agent(t).Slug)}
		if asked.AsMember() {
			choice = authserver.Choice{Scope: connectors.ScopeAdminRead}
		}
		return func() error {
			_, err := s.Allow(context.WithoutCancel(t.Context()), who, asked, choice)
			return err
		}
	}
}
