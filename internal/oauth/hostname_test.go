package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
)

const (
	unicodeServer, asciiServer = "https://bücher.example/mcp", "https://xn--bcher-kva.example/mcp"
	unicodeIssuer, asciiIssuer = "https://größe.example", "https://xn--gre-6ka8i.example"
)

// namedHosts serves documents by URL, in place of hosts on the internet. It records the requested URLs.
type namedHosts struct {
	documents map[string]oauthtest.Document
	mu        sync.Mutex
	requested []string // guarded by mu
}

// RoundTrip answers one request: 404 for a URL without a document.
func (h *namedHosts) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.requested = append(h.requested, r.URL.Scheme+"://"+r.URL.Host+r.URL.Path)
	h.mu.Unlock()
	answer := httptest.NewRecorder()
	if doc, ok := h.documents[r.URL.Scheme+"://"+r.URL.Host+r.URL.Path]; ok {
		_ = json.NewEncoder(answer).Encode(doc)
	} else {
		answer.WriteHeader(http.StatusNotFound)
	}
	return answer.Result(), nil
}

func (h *namedHosts) client() *oauth.Client {
	policy := safehttp.New(safehttp.Options{Mode: safehttp.Public})
	return &oauth.Client{HTTP: &http.Client{Transport: h}, CheckURL: policy.CheckURL, ASCIIURL: connectors.ASCIIURL}
}

// newNamedHosts returns an MCP server and its authorization server. Their documents have internationalised hosts.
func newNamedHosts(change func(resource, server oauthtest.Document)) *namedHosts {
	resource := oauthtest.Document{"resource": unicodeServer, "authorization_servers": []string{unicodeIssuer}}
	server := oauthtest.Document{
		"issuer": unicodeIssuer, "code_challenge_methods_supported": []string{"S256"},
		"authorization_endpoint": unicodeIssuer + "/authorize", "token_endpoint": unicodeIssuer + "/token",
		"registration_endpoint": unicodeIssuer + "/register", "revocation_endpoint": unicodeIssuer + "/revoke",
	}
	if change != nil {
		change(resource, server)
	}
	return &namedHosts{documents: map[string]oauthtest.Document{
		"https://xn--bcher-kva.example/.well-known/oauth-protected-resource/mcp": resource,
		asciiIssuer + "/.well-known/oauth-authorization-server":                  server,
	}}
}

func TestDiscover_InternationalisedHosts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		target oauth.Target
		change func(resource, server oauthtest.Document)
		issuer string
	}{
		"in every document":        {target: oauth.Target{ServerURL: asciiServer}, issuer: unicodeIssuer},
		"in the target":            {target: oauth.Target{ServerURL: unicodeServer}, issuer: unicodeIssuer},
		"in the configured issuer": {target: oauth.Target{ServerURL: asciiServer, Overrides: oauth.Overrides{Issuer: unicodeIssuer}}, issuer: unicodeIssuer},
		"in the challenge":         {target: oauth.Target{ServerURL: asciiServer, ResourceMetadata: "https://bücher.example/.well-known/oauth-protected-resource/mcp"}, issuer: unicodeIssuer},
		"percent-encoded":          {target: oauth.Target{ServerURL: "https://b%C3%BCcher.example/mcp"}, issuer: unicodeIssuer},
		"in the endpoints alone": {target: oauth.Target{ServerURL: asciiServer}, issuer: asciiIssuer, change: func(resource, server oauthtest.Document) {
			resource["authorization_servers"], server["issuer"] = []string{asciiIssuer}, asciiIssuer
		}},
		"with a configured endpoint": {target: oauth.Target{ServerURL: asciiServer, Overrides: oauth.Overrides{TokenEndpoint: unicodeIssuer + "/token"}}, issuer: unicodeIssuer},
		"in no issuer":               {target: oauth.Target{ServerURL: asciiServer, Overrides: oauth.Overrides{Issuer: asciiIssuer}}, issuer: asciiIssuer, change: func(_, server oauthtest.Document) { server["issuer"] = asciiIssuer }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := newNamedHosts(tc.change)
			d, err := hosts.client().Discover(t.Context(), tc.target)
			if err != nil {
				t.Fatalf("%v\n%+v", err, d.Trace)
			}
			got := []string{
				d.Resource, d.Server.Issuer, d.Server.AuthorizationEndpoint, d.Server.TokenEndpoint, d.Server.RegistrationEndpoint, d.Server.RevocationEndpoint,
			}
			want := []string{
				unicodeServer, tc.issuer, asciiIssuer + "/authorize", asciiIssuer + "/token", asciiIssuer + "/register", asciiIssuer + "/revoke",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("discovered (-want +got):\n%s", diff)
			}
			if d.Server.HasForeignTokenEndpoint() {
				t.Error("the token endpoint is of another origin")
			}
		})
	}
}

func TestDiscover_IssuerIsComparedAsWritten(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		overrides oauth.Overrides
		named     string // in the resource's document
		document  string // the issuer of the server's document
	}{
		"xn-- in its document":        {named: unicodeIssuer, document: asciiIssuer},
		"xn-- in the resource's":      {named: asciiIssuer, document: unicodeIssuer},
		"xn-- in the settings":        {overrides: oauth.Overrides{Issuer: asciiIssuer}, named: unicodeIssuer, document: unicodeIssuer},
		"in upper case in a document": {named: unicodeIssuer, document: "https://GRÖßE.example"},
	} {
		hosts := newNamedHosts(func(resource, server oauthtest.Document) {
			resource["authorization_servers"], server["issuer"] = []string{tc.named}, tc.document
		})
		d, err := hosts.client().Discover(t.Context(), oauth.Target{ServerURL: asciiServer, Overrides: tc.overrides})
		if err == nil {
			t.Errorf("%s: discovered %+v", name, d.Server)
			continue
		}
		failure := wantKind(t, err, oauth.KindRefused)
		if !strings.Contains(failure.Detail, "its document says "+tc.document) {
			t.Errorf("%s: %s", name, failure.Detail)
		}
	}
}

func TestDiscover_MisleadingHostIsRefused(t *testing.T) {
	t.Parallel()
	const lookalike = "https://p\u0430ypal.example"
	set := func(name, value string) func(_, server oauthtest.Document) {
		return func(_, server oauthtest.Document) { server[name] = value }
	}
	for name, change := range map[string]func(resource, server oauthtest.Document){
		"authorization endpoint": set("authorization_endpoint", lookalike+"/authorize"),
		"token endpoint":         set("token_endpoint", lookalike+"/token"),
		"full-width digits":      set("token_endpoint", "https://１２７.0.0.1/token"),
		"a path in Unicode":      set("token_endpoint", unicodeIssuer+"/tökens"),
		"issuer":                 func(resource, _ oauthtest.Document) { resource["authorization_servers"] = []string{lookalike} },
		"resource":               func(resource, _ oauthtest.Document) { resource["resource"] = "https://b\u0443cher.example/mcp" },
	} {
		hosts := newNamedHosts(change)
		if d, err := hosts.client().Discover(t.Context(), oauth.Target{ServerURL: asciiServer}); err == nil {
			t.Errorf("%s: discovered %+v", name, d.Server)
		}
		if slices.ContainsFunc(hosts.requested, func(url string) bool { return strings.Contains(url, "ypal") || strings.Contains(url, "127") }) {
			t.Errorf("%s: requested %v", name, hosts.requested)
		}
	}
}

func TestDiscover_UnicodeHostIsRefusedWithoutConversion(t *testing.T) {
	t.Parallel()
	hosts := newNamedHosts(nil)
	client := hosts.client()
	client.ASCIIURL = nil
	_, err := client.Discover(t.Context(), oauth.Target{ServerURL: asciiServer})
	wantKind(t, err, oauth.KindRefused)
}

func TestRequests_HaveASCIIHosts(t *testing.T) {
	t.Parallel()
	hosts := newNamedHosts(nil)
	hosts.documents[asciiIssuer+"/register"] = oauthtest.Document{"client_id": "client"}
	hosts.documents[asciiIssuer+"/token"] = oauthtest.Document{"access_token": "access", "token_type": "Bearer"}
	hosts.documents[asciiIssuer+"/revoke"] = oauthtest.Document{}
	f := &flow{Client: hosts.client(), t: t, PKCE: oauth.NewPKCE(), State: oauth.NewState()}
	f.discover(oauth.Target{ServerURL: unicodeServer})
	f.register(oauth.RegisterRequest{})
	target, err := f.AuthorizationURL(oauth.AuthorizationRequest{Peer: f.Peer, RedirectURI: redirectURI, State: f.State, Challenge: f.PKCE.Challenge})
	if err != nil || !strings.HasPrefix(target, asciiIssuer+"/authorize?") {
		t.Errorf("authorization URL %s, %v", target, err)
	}
	// RFC 9207 section 2.4: iss is compared with the issuer as published.
	if err := f.exchange(url.Values{"code": {"code"}, "iss": {asciiIssuer}}); err == nil {
		t.Error("another form of the issuer is accepted as iss")
	}
	if err := f.exchange(url.Values{"code": {"code"}, "iss": {unicodeIssuer}}); err != nil {
		t.Errorf("exchange: %v", err)
	}
	if err := f.Revoke(t.Context(), f.Peer, f.Token.AccessToken, oauth.HintAccessToken); err != nil {
		t.Errorf("revoke: %v", err)
	}
	want := []string{
		"https://xn--bcher-kva.example/.well-known/oauth-protected-resource/mcp", asciiIssuer + "/.well-known/oauth-authorization-server",
		asciiIssuer + "/register", asciiIssuer + "/token", asciiIssuer + "/revoke",
	}
	if diff := cmp.Diff(want, hosts.requested); diff != "" {
		t.Errorf("requested (-want +got):\n%s", diff)
	}
}
