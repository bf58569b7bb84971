package oauth_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

func TestClient_WholeFlow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		server   oauthtest.Behaviour
		resource oauthtest.ResourceBehaviour
	}{
		"correct":                   {server: oauthtest.Behaviour{}},
		"issuer with a path":        {server: oauthtest.Behaviour{IssuerPath: "/tenant"}},
		"OpenID, inserted":          {server: oauthtest.Behaviour{IssuerPath: "/tenant", WellKnown: oauthtest.AtOpenID}},
		"OpenID, appended":          {server: oauthtest.Behaviour{IssuerPath: "/a/b", WellKnown: oauthtest.AtOpenIDAppended}},
		"issuer with a slash":       {server: oauthtest.Behaviour{Edit: func(d oauthtest.Document) { d["issuer"] = d["issuer"].(string) + "/" }}},
		"resource document at root": {resource: oauthtest.ResourceBehaviour{Metadata: oauthtest.AtRoot}},
		"no documents at all": {
			server:   oauthtest.Behaviour{WellKnown: oauthtest.Nowhere},
			resource: oauthtest.ResourceBehaviour{OnServer: true, Metadata: oauthtest.NoMetadata},
		},
		"pages in place of documents": {
			server:   oauthtest.Behaviour{WellKnown: oauthtest.AsHTML},
			resource: oauthtest.ResourceBehaviour{OnServer: true, Metadata: oauthtest.NoMetadata},
		},
		"no resource document":  {resource: oauthtest.ResourceBehaviour{OnServer: true, Metadata: oauthtest.NoMetadata}},
		"resource down":         {resource: oauthtest.ResourceBehaviour{OnServer: true, Metadata: oauthtest.MetadataFails}},
		"public clients":        {server: oauthtest.Behaviour{PublicClients: true}},
		"post only":             {server: oauthtest.Behaviour{AuthMethods: []string{"client_secret_post"}}},
		"none only":             {server: oauthtest.Behaviour{AuthMethods: []string{"none"}}},
		"scopes at registering": {server: oauthtest.Behaviour{RefuseScopesRegister: true}, resource: oauthtest.ResourceBehaviour{Scopes: []string{"read"}}},
		"iss":                   {server: oauthtest.Behaviour{Iss: oauthtest.IssRight}},
		"iss, not advertised":   {server: oauthtest.Behaviour{Iss: oauthtest.IssUnasked}},
		"resource needed":       {server: oauthtest.Behaviour{NeedResource: true}},
		"form-encoded":          {server: oauthtest.Behaviour{Answer: oauthtest.Form}},
		"nested":                {server: oauthtest.Behaviour{Answer: oauthtest.Nested}},
		"nested in data":        {server: oauthtest.Behaviour{Answer: oauthtest.NestedData}},
		"life as text":          {server: oauthtest.Behaviour{ExpiresIn: "3600"}},
		"rotation":              {server: oauthtest.Behaviour{Rotate: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := oauthtest.Start(t, test.server)
			mcp := as.Protect(t, test.resource)
			f := newFlow(t)
			f.discover(oauth.Target{ServerURL: mcp.URL})
			f.register(oauth.RegisterRequest{Scopes: f.Scopes})
			if err := f.exchange(f.authorize()); err != nil {
				t.Fatal(err)
			}
			first := f.Token
			if _, ok := as.Accepts(first.AccessToken.Reveal()); !ok {
				t.Error("the token is not good")
			}
			if life := time.Until(first.ExpiresAt); life < 55*time.Minute || life > time.Hour || first.ExpiryAssumed {
				t.Errorf("lives %v, assumed %v", life, first.ExpiryAssumed)
			}
			second, err := f.Refresh(t.Context(), f.Peer, first.RefreshToken)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := as.Accepts(second.AccessToken.Reveal()); !ok || second.AccessToken == first.AccessToken {
				t.Error("the refreshed token is not good, or not new")
			}
			if rotated := second.RefreshToken != ""; rotated != test.server.Rotate {
				t.Errorf("a new refresh token: %v", rotated)
			}
		})
	}
}

func TestClient_SendsResourceAsPublished(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{NeedResource: true})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{})
	mcp.Set(func(b *oauthtest.ResourceBehaviour) { b.Resource = mcp.URL + "/" })
	f := newFlow(t)
	f.discover(oauth.Target{ServerURL: mcp.URL})
	f.register(oauth.RegisterRequest{})
	if err := f.exchange(f.authorize()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ClientCredentials(t.Context(), f.Peer, []string{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	for _, r := range as.Requests(oauthtest.Exchange, oauthtest.Refresh, oauthtest.ClientCredentials) {
		if got := r.Form["resource"]; !slices.Equal(got, []string{mcp.URL + "/"}) {
			t.Errorf("%s sent resource %q", r.Kind, got)
		}
		if r.Header.Get("Accept") != "application/json" {
			t.Errorf("%s accepts %q", r.Kind, r.Header.Get("Accept"))
		}
	}
	if got := as.Requests(oauthtest.Authorize)[0].Query.Get("resource"); got != mcp.URL+"/" {
		t.Errorf("authorize sent resource %q", got)
	}
}

func TestTheOverrideSendsNoResource(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{RefuseResource: true})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{})
	f := newFlow(t)
	f.discover(oauth.Target{ServerURL: mcp.URL})
	f.register(oauth.RegisterRequest{})
	failure := wantKind(t, f.exchange(f.authorize()), oauth.KindRejected)
	if failure.Code != "invalid_target" || !strings.Contains(failure.Sentence(), "send none") {
		t.Errorf("%+v: %s", failure, failure.Sentence())
	}
	none := ""
	f = newFlow(t)
	f.discover(oauth.Target{ServerURL: mcp.URL, Overrides: oauth.Overrides{Resource: &none}})
	f.register(oauth.RegisterRequest{})
	if err := f.exchange(f.authorize()); err != nil {
		t.Fatal(err)
	}
	for _, r := range as.Requests(oauthtest.Exchange) {
		if r.Form.Has("resource") {
			t.Errorf("a resource was sent: %q", r.Form)
		}
	}
}

func TestRevocationEndsTheGrant(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	f := connected(t, as)
	if err := f.Revoke(t.Context(), f.Peer, f.Token.RefreshToken, oauth.HintRefreshToken); err != nil {
		t.Fatal(err)
	}
	if _, ok := as.Accepts(f.Token.AccessToken.Reveal()); ok {
		t.Error("the access token is still good")
	}
	_, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
	wantKind(t, err, oauth.KindDead)
	f.Peer.Server.RevocationEndpoint = ""
	if err := f.Revoke(t.Context(), f.Peer, f.Token.RefreshToken, oauth.HintRefreshToken); err != nil || as.Count(oauthtest.Revoke) != 1 {
		t.Errorf("a server without revocation: %v, %d requests", err, as.Count(oauthtest.Revoke))
	}
}

func TestAReusedRefreshTokenEndsTheGrant(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{Rotate: true})
	f := connected(t, as)
	as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.DropAfterEffect })
	_, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
	wantKind(t, err, oauth.KindUnknownOutcome)
	as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
	_, err = f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
	wantKind(t, err, oauth.KindDead)
	if n := as.Count(oauthtest.Refresh); n != 2 {
		t.Errorf("%d refresh requests for two refreshes", n)
	}
}
