package oauth_test

import (
	"bytes"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/oauth"
)

func server() oauth.Metadata {
	return oauth.Metadata{
		Issuer: "https://as.example", AuthorizationEndpoint: "https://as.example/authorize", TokenEndpoint: "https://as.example/token",
		CodeChallengeMethodsSupported: []string{"plain", "S256"},
	}
}

func TestTheAuthorizationURL(t *testing.T) {
	t.Parallel()
	m := server()
	m.AuthorizationEndpoint += "?tenant=7&redirect_uri=https%3A%2F%2Fevil.example&resource=x&request_uri=y&scope=all"
	pkce := oauth.NewPKCE()
	got, err := (&oauth.Client{}).AuthorizationURL(oauth.AuthorizationRequest{
		Peer: oauth.Peer{
			Server: m, Client: oauth.Registration{ClientID: "id & co", Issuer: m.Issuer}, Resource: "https://mcp.example/mcp",
		},
		RedirectURI: redirectURI, State: "the-state", Challenge: pkce.Challenge, Scopes: []string{"read", "offline_access"},
	})
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(got)
	if err != nil {
		t.Fatal(err)
	}
	want := url.Values{
		"tenant": {"7"}, "response_type": {"code"}, "client_id": {"id & co"}, "redirect_uri": {redirectURI}, "state": {"the-state"},
		"code_challenge": {pkce.Challenge}, "code_challenge_method": {"S256"}, "scope": {"read offline_access"},
		"resource": {"https://mcp.example/mcp"}, "prompt": {"consent"},
	}
	if diff := cmp.Diff(want, u.Query()); diff != "" || u.Host != "as.example" || u.Path != "/authorize" {
		t.Errorf("%s (-want +got):\n%s", got, diff)
	}
}

func TestStatesAndVerifiersAreFresh(t *testing.T) {
	t.Parallel()
	a, b := oauth.NewState(), oauth.NewState()
	if a == b || len(a) != 43 { // 256 bits in base64url
		t.Errorf("states of %d and %d characters", len(a), len(b))
	}
	if bytes.Equal(oauth.HashState(a), oauth.HashState(b)) || !bytes.Equal(oauth.HashState(a), oauth.HashState(a)) || len(oauth.HashState(a)) != 32 {
		t.Error("a state's hash is not its own")
	}
	if p, q := oauth.NewPKCE(), oauth.NewPKCE(); p.Verifier == q.Verifier || p.Challenge == q.Challenge || len(p.Verifier) != 43 {
		t.Error("two verifiers are alike, or short")
	}
}

func TestServersThatDoNotPromisePKCEAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		methods        []string
		allow, assumed bool
		refused        bool
	}{
		"S256":                   {methods: []string{"S256"}},
		"plain":                  {methods: []string{"plain"}, refused: true},
		"plain, missing allowed": {methods: []string{"plain"}, allow: true, refused: true},
		"says nothing":           {refused: true},
		"says nothing, allowed":  {allow: true},
		"no document":            {assumed: true},
	} {
		m := server()
		m.CodeChallengeMethodsSupported, m.AllowMissingPKCE, m.Assumed = test.methods, test.allow, test.assumed
		_, err := (&oauth.Client{}).AuthorizationURL(oauth.AuthorizationRequest{
			Peer: oauth.Peer{Server: m, Client: oauth.Registration{ClientID: "id"}}, RedirectURI: redirectURI,
		})
		switch {
		case test.refused:
			wantKind(t, err, oauth.KindRefused)
		case err != nil:
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhichScopesAreAskedFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		configured []string
		challenge  string
		resource   []string
		server     []string
		want       []string
	}{
		"the admin's":             {configured: []string{"mine"}, challenge: "theirs", resource: []string{"r"}, want: []string{"mine"}},
		"the challenge's":         {challenge: "a b  a", resource: []string{"r"}, server: []string{"s"}, want: []string{"a", "b"}},
		"the resource's":          {resource: []string{"r", "w"}, server: []string{"s"}, want: []string{"r", "w"}},
		"none":                    {server: []string{"s", "openid"}},
		"offline where listed":    {challenge: "a", server: []string{"offline_access"}, want: []string{"a", "offline_access"}},
		"offline once":            {challenge: "offline_access a", server: []string{"offline_access"}, want: []string{"offline_access", "a"}},
		"none, offline listed":    {server: []string{"offline_access"}},
		"words that are no scope": {challenge: "a \"b\" c\\d \x01 é", want: []string{"a"}},
	} {
		d := &oauth.Discovery{ResourceScopes: test.resource, Server: oauth.Metadata{ScopesSupported: test.server}}
		if diff := cmp.Diff(test.want, d.Scopes(test.configured, test.challenge)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRefusedScopesAreNarrowedStepByStep(t *testing.T) {
	t.Parallel()
	scopes := []string{"a", "offline_access", "b"}
	fewer, ok := oauth.NarrowScopes(scopes)
	if diff := cmp.Diff([]string{"a", "b"}, fewer); diff != "" || !ok {
		t.Errorf("first, %v:\n%s", ok, diff)
	}
	fewer, ok = oauth.NarrowScopes(fewer)
	if len(fewer) != 0 || !ok {
		t.Errorf("then %q, %v", fewer, ok)
	}
	if _, ok = oauth.NarrowScopes(fewer); ok {
		t.Error("there is less than none")
	}
	if diff := cmp.Diff([]string{"a", "offline_access", "b", "c"}, oauth.UnionScopes(scopes, []string{"b", "c"})); diff != "" {
		t.Errorf("union:\n%s", diff)
	}
}

func TestAuthorizationURL_SelectsTheAccountWhereKnown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		scopes, prompts []string
		want            string
	}{
		{[]string{"read"}, nil, ""},
		{[]string{"openid"}, nil, "select_account"},
		{[]string{"read"}, []string{"none", "select_account"}, "select_account"},
		{[]string{"openid"}, []string{"none"}, ""},
		{[]string{"openid", "offline_access"}, nil, "consent select_account"},
	} {
		r := oauth.AuthorizationRequest{Scopes: tc.scopes, SelectAccount: true, RedirectURI: "https://patchbay.example/callback"}
		r.Server = oauth.Metadata{
			Issuer: "https://as.example", AuthorizationEndpoint: "https://as.example/authorize", CodeChallengeMethodsSupported: []string{"S256"}, PromptValuesSupported: tc.prompts,
		}
		r.Client.ClientID = "c"
		text, err := (&oauth.Client{}).AuthorizationURL(r)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(text)
		if err != nil || u.Query().Get("prompt") != tc.want {
			t.Errorf("%q with %q: prompt %q, want %q (%v)", tc.scopes, tc.prompts, u.Query().Get("prompt"), tc.want, err)
		}
	}
}
