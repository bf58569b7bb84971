package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/scim"
)

// provider returns how the tenant's identity provider sends a request to one process.
func (b *testEnv) provider(t *testing.T) func(method, path, body string) string {
	t.Helper()
	base, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	service, err := scim.New(scim.Options{Store: b.St, BaseURL: base, Rate: 1000})
	if err != nil {
		t.Fatal(err)
	}
	self, err := b.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := service.Enable(t.Context(), auth.Operator(self))
	if err != nil {
		t.Fatal(err)
	}
	r := chi.NewRouter()
	service.Mount(r)
	return func(method, path, body string) string {
		t.Helper()
		request := httptest.NewRequestWithContext(t.Context(), method, "/scim/v2/"+path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+token.Reveal())
		rec := httptest.NewRecorder()
		r.ServeHTTP(rec, request)
		if rec.Code >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
		return rec.Body.String()
	}
}

// maxRefusal is a second, the documented bound, with room for a busy machine. Without the database's notice a connected process would
// use what it has read until the token's expiry.
const maxRefusal = 5 * time.Second

// The provider reaches one process; the agents' last tokens are refused at each within the bound.
func TestDeprovisionedMember_IsRefusedAtEachReplica(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	replica := newTestProcess(t, b.World)
	b.Member(t, connectors.RoleOwner)
	m := b.Member(t, connectors.RoleMember)
	personal, shared := b.newAutoAgent(t), b.newAutoAgent(t)
	if err := b.Door().Agents().MakePersonal(t.Context(), m.UserID, personal.ID); err != nil {
		t.Fatal(err)
	}
	tokens := map[string]string{
		"of the personal agent": bearerHeader(b.Token(t, personal.ID)),
		"of a client":           bearerHeader(b.AccessToken(t, b.Tenant, b.ProgramIn(t, b.Tenant, shared.ID, m.UserID), "/mcp")),
	}
	send := b.provider(t)
	made := send(http.MethodPost, "Users", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"`+m.Email+`"}`)
	_, id, _ := strings.Cut(made, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	for name, token := range tokens {
		for _, at := range []string{b.url, replica.url} {
			if got := post(t, at+"/mcp", listTools, "Authorization", token); got.status != http.StatusOK {
				t.Fatalf("the token %s: %d %s", name, got.status, got.body)
			}
		}
	}
	send(http.MethodPatch, "Users/"+id, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"Replace","path":"active","value":"False"}]}`)
	ended := time.Now()
	for name, token := range tokens {
		for _, at := range []string{replica.url, b.url} {
			eventually(t, "the token "+name+" is refused", func() bool {
				return post(t, at+"/mcp", listTools, "Authorization", token).status == http.StatusUnauthorized
			})
			if took := time.Since(ended); took > maxRefusal {
				t.Errorf("the token %s was refused at %s after %s, want at most %s", name, at, took, maxRefusal)
			}
		}
	}
}
