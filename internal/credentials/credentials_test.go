package credentials_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestHeaders_ByAuthType(t *testing.T) {
	t.Parallel()
	s := connectors.Secret{Token: "tok", Key: "key", Username: "Aladdin", Password: "open sesame"}
	for _, tc := range []struct {
		auth        connectors.Auth
		name, value string
	}{
		{connectors.Auth{Type: connectors.AuthBearer}, "Authorization", "Bearer tok"},
		{connectors.Auth{Type: connectors.AuthAPIKey}, "X-Api-Key", "key"},
		{connectors.Auth{Type: connectors.AuthAPIKey, Header: "X-Token"}, "X-Token", "key"},
		{connectors.Auth{Type: connectors.AuthBasic}, "Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}, // RFC 7617 §2
	} {
		headers, err := credentials.Headers(tc.auth, s)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		credentials.Apply(h, headers)
		if len(h) != 1 || h.Get(tc.name) != tc.value {
			t.Errorf("%s: %v", tc.auth.Type, h)
		}
		if shown := fmt.Sprintf("%v %+v", headers, headers); strings.Contains(shown, "tok") || strings.Contains(shown, "QWx") {
			t.Errorf("a printer shows %s", shown)
		}
	}
	if headers, err := credentials.Headers(connectors.Auth{Type: connectors.AuthNone}, connectors.Secret{}); len(headers) != 0 || err != nil {
		t.Errorf("none: %v, %v", headers, err)
	}
	if _, err := credentials.Headers(connectors.Auth{Type: connectors.AuthPrivateKeyJWT}, s); err == nil {
		t.Error("private_key_jwt: no error")
	}
}

// newBearerConnector is a connector with bearer tokens.
func newBearerConnector(t *testing.T, w *fixture.World, mode connectors.CredentialMode) connectors.Connector {
	t.Helper()
	return w.Connector(t, func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = connectors.AuthBearer, mode })
}

// saveCredential stores a credential.
func saveCredential(t testing.TB, w *fixture.World, c connectors.Connector, agent *connectors.AgentID, s connectors.Secret) {
	t.Helper()
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	err = w.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: c.ID, AgentID: agent, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: text,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func authorizationHeader(t testing.TB, headers []credentials.Header, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	credentials.Apply(h, headers)
	return h.Get("Authorization")
}

func wantMissing(t testing.TB, err error) {
	t.Helper()
	if !fault.Is(err, fault.Conflict) || fault.As(err).Type != "credential-required" {
		t.Errorf("error = %v, want a missing credential", err)
	}
}

// wantNotRenewed checks for a temporary failure, which does not ask for a new connection.
func wantNotRenewed(t testing.TB, err error) {
	t.Helper()
	if !fault.Is(err, fault.Unavailable) || fault.As(err).Code != credentials.CodeNotRenewed {
		t.Errorf("error = %v, want one that may pass", err)
	}
}

func TestFor_SharedCredentialServesAllAgents(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	r, c, agent := credentials.New(w.St), newBearerConnector(t, w, connectors.CredentialShared), w.Agent(t)
	_, err := r.Headers(t.Context(), w.Tenant, c, credentials.Account{Agent: &agent.ID})
	wantMissing(t, err)
	saveCredential(t, w, c, nil, connectors.Secret{Token: "shared"})
	for _, who := range []*connectors.AgentID{nil, &agent.ID} {
		headers, err := r.Headers(t.Context(), w.Tenant, c, credentials.Account{Agent: who})
		if got := authorizationHeader(t, headers, err); got != "Bearer shared" {
			t.Errorf("sent %q", got)
		}
	}
	_, err = r.Headers(t.Context(), w.Other, c, credentials.Account{})
	wantMissing(t, err)
}

func TestFor_AgentGetsOnlyItsOwn(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	r, c, ann, bob := credentials.New(w.St), newBearerConnector(t, w, connectors.CredentialPerAgent), w.Agent(t), w.Agent(t)
	saveCredential(t, w, c, &ann.ID, connectors.Secret{Token: "of-ann"})
	headers, err := r.Headers(t.Context(), w.Tenant, c, credentials.Account{Agent: &ann.ID})
	if got := authorizationHeader(t, headers, err); got != "Bearer of-ann" {
		t.Errorf("sent %q", got)
	}
	for _, who := range []*connectors.AgentID{nil, &bob.ID} {
		_, err := r.Headers(t.Context(), w.Tenant, c, credentials.Account{Agent: who})
		wantMissing(t, err)
	}
	of, err := r.ResolveForSync(t.Context(), w.Tenant, c)
	if err != nil || of == nil || *of.Agent != ann.ID {
		t.Errorf("for a sync: %v, %v", of, err)
	}
}

func TestFor_OtherAuthTypeIsMissing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	r, c := credentials.New(w.St), newBearerConnector(t, w, connectors.CredentialShared)
	saveCredential(t, w, c, nil, connectors.Secret{Token: "tok"})
	for _, auth := range []connectors.Auth{{Type: connectors.AuthAPIKey, Header: "X-Key"}, {Type: connectors.AuthOAuth2}} { // as read before or after
		c.Auth = auth
		_, err := r.Headers(t.Context(), w.Tenant, c, credentials.Account{})
		wantMissing(t, err)
		wantMissing(t, r.ExplainMissingForSync(t.Context(), w.Tenant, c))
	}
}

func TestFor_OtherOriginIsMissing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	r, agent := credentials.New(w.St), w.Agent(t)
	shared, own := newBearerConnector(t, w, connectors.CredentialShared), newBearerConnector(t, w, connectors.CredentialPerAgent)
	saveCredential(t, w, shared, nil, connectors.Secret{Token: "tok"})
	saveCredential(t, w, own, &agent.ID, connectors.Secret{Token: "tok"})
	for _, url := range []string{"https://elsewhere.example.com/mcp", "http://elsewhere.example.com/", "https://elsewhere.example.com:8443/", ""} {
		// as read before or after the credential was stored
		shared.URL, own.URL = url, url
		_, err := r.Headers(t.Context(), w.Tenant, shared, credentials.Account{})
		wantMissing(t, err)
		_, err = r.Headers(t.Context(), w.Tenant, own, credentials.Account{Agent: &agent.ID})
		wantMissing(t, err)
		if u, err := r.ResolveForSync(t.Context(), w.Tenant, own); u != nil || err != nil {
			t.Errorf("%s: for a sync: %v, %v", url, u, err)
		}
	}
}

func TestFor_NoAuthHasNoHeaders(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	headers, err := credentials.New(w.St).Headers(t.Context(), w.Tenant, w.Connector(t), credentials.Account{})
	if len(headers) != 0 || err != nil {
		t.Errorf("headers = %v, %v", headers, err)
	}
}
