package api_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/sso"
)

// ssoWorld is a tenant with an SSO provider that signs every person in as Ada.
type ssoWorld struct {
	*sso.Service
	w     *world
	owner auth.Actor
	nonce string
}

const adasBrowser = sso.Browser("ada's browser")

func newSSOWorld(t *testing.T, w *world) *ssoWorld {
	t.Helper()
	s := &ssoWorld{w: w, owner: w.newOperator(t)}
	at := s.startProvider(t)
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(egress.Client().CloseIdleConnections)
	s.Service = sso.New(sso.Options{Store: w.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: baseURL})
	m := w.Member(t, connectors.RoleOwner)
	s.owner.Kind, s.owner.UserID = auth.KindPerson, &m.UserID
	settings := sso.Change{Issuer: &at, ClientID: new("patchbay"), ClientSecret: "s", Joins: new(true), DefaultRole: new(connectors.RoleViewer)}
	if _, err := s.Save(t.Context(), s.owner, settings); err != nil {
		t.Fatal(err)
	}
	if err := s.Vouch(t.Context(), auth.Operator(s.owner.Tenant), "acme.example"); err != nil {
		t.Fatal(err)
	}
	return s
}

// enable tests the settings and turns SSO on.
func (s *ssoWorld) enable(t *testing.T) *ssoWorld {
	t.Helper()
	if err := s.trySettings(t)(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), s.owner, sso.Change{Enabled: new(true)}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *ssoWorld) trySettings(t *testing.T) func() error {
	t.Helper()
	to, err := s.Try(t.Context(), s.owner, adasBrowser)
	return s.finishSignIn(t, to, err, nil)
}

// signInAsAda is Ada's sign-in up to the callback; more are further claims.
func (s *ssoWorld) signInAsAda(t *testing.T, more url.Values) func() error {
	t.Helper()
	to, err := s.Start(t.Context(), "ada@acme.example", "", adasBrowser)
	return s.finishSignIn(t, to, err, more)
}

func (s *ssoWorld) finishSignIn(t *testing.T, to string, err error, more url.Values) func() error {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	s.nonce = u.Query().Get("nonce")
	query := url.Values{"state": {u.Query().Get("state")}, "code": {"c"}}
	for name, values := range more {
		query[name] = values
	}
	return func() error {
		_, err := s.Finish(context.WithoutCancel(t.Context()), sso.Return{Query: query, Browser: adasBrowser, Person: &s.owner})
		return err
	}
}

func (s *ssoWorld) startProvider(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var at string
	answers := map[string]func() any{
		"/.well-known/openid-configuration": func() any {
			return map[string]any{
				"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token", "jwks_uri": at + "/keys",
				"id_token_signing_alg_values_supported": []string{"ES256"},
			}
		},
		"/keys": func() any {
			return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), Algorithm: "ES256"}}}
		},
		"/token": func() any {
			signer, _ := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
			now := time.Now()
			raw, _ := jwt.Signed(signer).Claims(map[string]any{
				"iss": at, "aud": "patchbay", "sub": "ada", "nonce": s.nonce, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
				"email": "ada@acme.example", "email_verified": true,
			}).Serialize()
			return map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": raw}
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answers[r.URL.Path]())
	}))
	t.Cleanup(server.Close)
	at = server.URL
	return at
}

// ssoActions are the actions of single sign-on.
var ssoActions = map[string]actionCase{
	"sso.configure": {thing: "sso", prepare: requestAction("PATCH", "/api/v1/sso", `{"issuer": "http://127.0.0.1:1", "client_id": "a", "client_secret": "b", "groups": [{"group": "a", "role": "admin"}]}`)},
	"sso.forget": {thing: "sso", prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		newSSOWorld(t, w)
		return w.sendRequest(t, w.createKey(t, connectors.RoleOwner), http.MethodDelete, "/api/v1/sso", nil)
	}},
	"sso.claim_domain": {thing: "domain", prepare: requestAction("POST", "/api/v1/sso/domains", `{"domain": "acme.example"}`)},
	"sso.verify_domain": {thing: "domain", prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		s := newSSOWorld(t, w)
		if err := s.Claim(t.Context(), s.owner, "other.example"); err != nil {
			t.Fatal(err)
		}
		now, err := s.Settings(t.Context(), s.owner)
		if err != nil {
			t.Fatal(err)
		}
		looks := sso.New(sso.Options{Store: w.St, LookupTXT: func(context.Context, string) ([]string, error) { return []string{now.Domains[1].Proof}, nil }})
		return func() error { return looks.Verify(t.Context(), s.owner, "other.example") }
	}},
	"sso.release_domain": {thing: "domain", prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		newSSOWorld(t, w)
		return w.sendRequest(t, w.createKey(t, connectors.RoleOwner), http.MethodPost, "/api/v1/sso/domains/release", `{"domain": "acme.example"}`)
	}},
	"sso.test": {alsoChanges: true, once: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		return newSSOWorld(t, w).trySettings(t)
	}},
	"sso.sign_in": {alsoChanges: true, once: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		return newSSOWorld(t, w).enable(t).signInAsAda(t, nil)
	}},
	"sso.refuse": {alsoChanges: true, once: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		do := newSSOWorld(t, w).enable(t).signInAsAda(t, url.Values{"error": {"access_denied"}})
		return func() error {
			if err := do(); !fault.Is(err, fault.Denied) {
				return err // an error is expected: on success there is no entry
			}
			return nil
		}
	}},
}
