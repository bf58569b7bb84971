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

func TestEachAuthTypeHasItsHeader(t *testing.T) {
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

// bearer makes a connector with bearer tokens.
func bearer(t *testing.T, w *fixture.World, mode connectors.CredentialMode) connectors.Connector {
	t.Helper()
	return w.Connector(t, func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = connectors.AuthBearer, mode })
}

// keep stores a token.
func keep(t testing.TB, w *fixture.World, c connectors.Connector, agent *connectors.AgentID, s connectors.Secret) {
	t.Helper()
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	err = w.Door().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: c.ID, AgentID: agent, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: text,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func sent(t testing.TB, headers []credentials.Header, err error) string {
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

// wantNotNow wants a failure that asks nobody to connect again.
func wantNotNow(t testing.TB, err error) {
	t.Helper()
	if !fault.Is(err, fault.Unavailable) || fault.As(err).Code != credentials.CodeNotRenewed {
		t.Errorf("error = %v, want one that may pass", err)
	}
}

func TestTheSharedCredentialServesEveryAgent(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	r, c, agent := credentials.New(w.St), bearer(t, w, connectors.CredentialShared), w.Agent(t)
	_, err := r.For(t.Context(), w.Tenant, c, &agent.ID)
	wantMissing(t, err)
	keep(t, w, c, nil, connectors.Secret{Token: "shared"})
	for _, who := range []*connectors.AgentID{nil, &agent.ID} {
		headers, err := r.For(t.Context(), w.Tenant, c, who)
		if got := sent(t, headers, err); got != "Bearer shared" {
			t.Errorf("sent %q", got)
		}
	}
	_, err = r.For(t.Context(), w.Other, c, nil)
	wantMissing(t, err)
}

func TestAnAgentGetsItsOwnCredentialAndNoOther(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	r, c, ann, bob := credentials.New(w.St), bearer(t, w, connectors.CredentialPerAgent), w.Agent(t), w.Agent(t)
	keep(t, w, c, &ann.ID, connectors.Secret{Token: "of-ann"})
	headers, err := r.For(t.Context(), w.Tenant, c, &ann.ID)
	if got := sent(t, headers, err); got != "Bearer of-ann" {
		t.Errorf("sent %q", got)
	}
	for _, who := range []*connectors.AgentID{nil, &bob.ID} {
		_, err := r.For(t.Context(), w.Tenant, c, who)
		wantMissing(t, err)
	}
	last, err := r.LastUsed(t.Context(), w.Tenant, c)
	if err != nil || last == nil || *last.Agent != ann.ID {
		t.Errorf("last used = %v, %v", last, err)
	}
}

func TestACredentialGivenForAnotherAuthTypeCountsAsMissing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	r, c := credentials.New(w.St), bearer(t, w, connectors.CredentialShared)
	keep(t, w, c, nil, connectors.Secret{Token: "tok"})
	c.Auth = connectors.Auth{Type: connectors.AuthAPIKey, Header: "X-Key"}
	_, err := r.For(t.Context(), w.Tenant, c, nil)
	wantMissing(t, err)
}

func TestACredentialGivenForAnotherOriginCountsAsMissing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	r, agent := credentials.New(w.St), w.Agent(t)
	shared, own := bearer(t, w, connectors.CredentialShared), bearer(t, w, connectors.CredentialPerAgent)
	keep(t, w, shared, nil, connectors.Secret{Token: "tok"})
	keep(t, w, own, &agent.ID, connectors.Secret{Token: "tok"})
	for _, url := range []string{"https://elsewhere.example.com/mcp", "http://elsewhere.example.com/", "https://elsewhere.example.com:8443/", ""} {
		// What a caller holds that read the connector before, or after, the one who gave the secret.
		shared.URL, own.URL = url, url
		_, err := r.For(t.Context(), w.Tenant, shared, nil)
		wantMissing(t, err)
		_, err = r.For(t.Context(), w.Tenant, own, &agent.ID)
		wantMissing(t, err)
		if u, err := r.LastUsed(t.Context(), w.Tenant, own); u != nil || err != nil {
			t.Errorf("%s: last used = %v, %v", url, u, err)
		}
	}
}

func TestAConnectorWithoutAuthenticationSendsNothing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	headers, err := credentials.New(w.St).For(t.Context(), w.Tenant, w.Connector(t), nil)
	if len(headers) != 0 || err != nil {
		t.Errorf("headers = %v, %v", headers, err)
	}
}
