package oauth_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
	"patchbay/internal/testing/testclient"
)

// Every URL of every document is aimed at a server that only we can reach.
func TestNoURLOfADocumentLeadsInside(t *testing.T) {
	t.Parallel()
	inside := func(tr *trap) map[string]string {
		port := tr.URL[strings.LastIndexByte(tr.URL, ':'):]
		return map[string]string{
			"loopback": tr.URL + "/x", "localhost": "http://localhost" + port + "/x", "numeric": "http://2130706433" + port + "/x",
			"mapped": "http://[::ffff:127.0.0.1]" + port + "/x", "userinfo": "http://a:b@127.0.0.1" + port + "/x",
			"zero": "http://0.0.0.0" + port + "/x", "short": "http://127.1" + port + "/x", "metadata service": "http://169.254.169.254/latest",
			"file": "file:///etc/passwd", "javascript": "javascript:alert(1)//" + tr.URL, "data": "data:application/json,{}",
			"gopher": "gopher://127.0.0.1" + port + "/x", "no scheme": "//127.0.0.1" + port + "/x", "no host": "http:///x",
			"backslash": "http://as.example\\@127.0.0.1" + port + "/x", "line break": tr.URL + "/x\r\nHost: y", "fragment": tr.URL + "/x#y",
			"long": tr.URL + "/" + strings.Repeat("x", 3000),
		}
	}
	places := map[string]func(as *oauthtest.Server, mcp *oauthtest.Resource, target *oauth.Target, raw string){
		"resource_metadata": func(_ *oauthtest.Server, _ *oauthtest.Resource, target *oauth.Target, raw string) {
			target.ResourceMetadata = raw
		},
		"authorization_servers": func(_ *oauthtest.Server, mcp *oauthtest.Resource, _ *oauth.Target, raw string) {
			mcp.Set(func(b *oauthtest.ResourceBehaviour) { b.Servers = []string{raw} })
		},
		"issuer override": func(_ *oauthtest.Server, _ *oauthtest.Resource, target *oauth.Target, raw string) {
			target.Overrides.Issuer = raw
		},
		"token endpoint override": func(_ *oauthtest.Server, _ *oauthtest.Resource, target *oauth.Target, raw string) {
			target.Overrides.TokenEndpoint = raw
		},
	}
	for _, endpoint := range []string{"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"} {
		places[endpoint] = func(as *oauthtest.Server, _ *oauthtest.Resource, _ *oauth.Target, raw string) {
			as.Set(func(b *oauthtest.Behaviour) {
				b.Edit = func(d oauthtest.Document) { d[endpoint] = raw }
			})
		}
	}
	for place, aim := range places {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			tr := newTrap(t)
			for name, raw := range inside(tr) {
				as := oauthtest.Start(t, oauthtest.Behaviour{})
				mcp := as.Protect(t, oauthtest.ResourceBehaviour{})
				target := oauth.Target{ServerURL: mcp.URL}
				aim(as, mcp, &target, raw)
				c := strictClient(t, as.Issuer, strings.TrimSuffix(mcp.URL, "/mcp"))
				goAllTheWay(t, c, target)
				if n := tr.hits.Load(); n != 0 {
					t.Fatalf("%s: the trap was hit %d times", name, n)
				}
			}
		})
	}
}

// goAllTheWay does every step that works, and stores nothing in between: what Discover lets pass is used.
func goAllTheWay(t *testing.T, c *oauth.Client, target oauth.Target) {
	t.Helper()
	ctx := t.Context()
	d, err := c.Discover(ctx, target)
	if err != nil {
		wantKind(t, err, oauth.KindRefused)
		return
	}
	p := oauth.Peer{Server: d.Server, Resource: d.Resource}
	p.Client, err = c.Register(ctx, oauth.RegisterRequest{Server: d.Server, RedirectURIs: []string{redirectURI}})
	if err != nil {
		wantKind(t, err, oauth.KindNeedsClientID)
		p.Client = oauth.Registration{Issuer: d.Server.Issuer, ClientID: "id"}
	}
	shown, err := c.AuthorizationURL(oauth.AuthorizationRequest{Peer: p, RedirectURI: redirectURI, State: "s", Challenge: "c"})
	if err != nil || !strings.HasPrefix(shown, d.Server.Issuer) {
		t.Errorf("a browser would be sent to %s, error %v", shown, err)
	}
	_, _ = c.Exchange(ctx, p, oauth.Grant{Code: "c", Verifier: "v"})
	_, _ = c.Refresh(ctx, p, "r")
	_, _ = c.ClientCredentials(ctx, p, nil)
	_ = c.Revoke(ctx, p, "r", oauth.HintRefreshToken)
}

// Stored metadata may predate the policy or be tampered with: each step checks its own URL again.
func TestStoredEndpointsAreCheckedAgain(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	c := strictClient(t)
	for _, raw := range []string{tr.URL, "javascript:alert(1)", "file:///etc/passwd", "https://u:p@as.example/token"} {
		m := oauth.Metadata{
			Issuer: "https://as.example", CodeChallengeMethodsSupported: []string{"S256"},
			AuthorizationEndpoint: raw, TokenEndpoint: raw, RegistrationEndpoint: raw, RevocationEndpoint: raw,
		}
		p := oauth.Peer{Server: m, Client: oauth.Registration{ClientID: "id"}}
		_, err := c.Register(t.Context(), oauth.RegisterRequest{Server: m})
		wantKind(t, err, oauth.KindRefused)
		_, err = c.AuthorizationURL(oauth.AuthorizationRequest{Peer: p})
		wantKind(t, err, oauth.KindRefused)
		_, err = c.Exchange(t.Context(), p, oauth.Grant{Code: "c"})
		wantKind(t, err, oauth.KindRefused)
		_, err = c.Refresh(t.Context(), p, "r")
		wantKind(t, err, oauth.KindRefused)
		wantKind(t, c.Revoke(t.Context(), p, "r", oauth.HintRefreshToken), oauth.KindRefused)
	}
	if n := tr.hits.Load(); n != 0 {
		t.Errorf("the trap was hit %d times", n)
	}
}

// A name that is fine when its document is read may resolve to an inner address when the token is asked for. The handed
// client looks at each connection; what it refuses is a refusal here, not trouble that goes away.
func TestEgress_DNSRebinding(t *testing.T) {
	t.Parallel()
	c := &oauth.Client{HTTP: &http.Client{Transport: refusingTransport{}}}
	peer := oauth.Peer{Server: oauth.Metadata{TokenEndpoint: "https://rebound.example/token"}, Client: oauth.Registration{ClientID: "id"}}
	_, err := c.Refresh(t.Context(), peer, "r")
	wantKind(t, err, oauth.KindRefused)
	_, err = c.Discover(t.Context(), oauth.Target{ServerURL: "https://rebound.example/mcp"})
	wantKind(t, err, oauth.KindRefused)
}

type refusingTransport struct{}

func (refusingTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &safehttp.BlockedError{Host: "127.0.0.1", Why: "inside"}}
}

// A careless HTTP client follows redirects and keeps cookies; neither may happen.
func TestClient_DoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		moved := httptest.NewServer(http.RedirectHandler(tr.URL, status))
		t.Cleanup(moved.Close)
		c := &oauth.Client{HTTP: moved.Client(), CheckURL: url.Parse}
		d, err := c.Discover(t.Context(), oauth.Target{ServerURL: moved.URL + "/mcp"})
		if err != nil || !d.Server.Assumed {
			t.Errorf("%d: %+v, %v", status, d.Server, err)
		}
		p := oauth.Peer{Server: d.Server, Client: oauth.Registration{ClientID: "id", ClientSecret: "hunter2"}}
		_, err = c.Refresh(t.Context(), p, "r")
		if failure := wantKind(t, err, oauth.KindProtocol); !strings.Contains(failure.Detail, "redirect") {
			t.Errorf("%d: %+v", status, failure)
		}
	}
	if n := tr.hits.Load(); n != 0 {
		t.Errorf("the trap was hit %d times", n)
	}
}

// The attacker's MCP server names the honest authorization server, with its document at the attacker's, to get
// codes and secrets.
func TestMixUpOfServers(t *testing.T) {
	t.Parallel()
	honest := oauthtest.Start(t, oauthtest.Behaviour{})
	attacker := oauthtest.Start(t, oauthtest.Behaviour{DocumentIssuer: honest.Issuer, Edit: func(d oauthtest.Document) {
		d["authorization_endpoint"] = honest.Issuer + "/authorize"
	}})
	mcp := attacker.Protect(t, oauthtest.ResourceBehaviour{})
	_, err := newClient(t).Discover(t.Context(), oauth.Target{ServerURL: mcp.URL})
	wantKind(t, err, oauth.KindRefused)
	if n := attacker.Count(oauthtest.Exchange, oauthtest.Register) + honest.Count(); n != 0 {
		t.Errorf("%d requests followed", n)
	}
}

func TestPKCECannotBeTalkedDown(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]oauthtest.Behaviour{
		"says nothing": {NoPKCE: true}, "plain": {PKCE: []string{"plain"}}, "empty": {PKCE: []string{}}, "spelled s256": {PKCE: []string{"s256"}},
	} {
		as := oauthtest.Start(t, b)
		f := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL)
		f.register(oauth.RegisterRequest{})
		_, err := f.AuthorizationURL(oauth.AuthorizationRequest{Peer: f.Peer, RedirectURI: redirectURI, State: f.State, Challenge: f.PKCE.Challenge})
		if wantKind(t, err, oauth.KindRefused); as.Count(oauthtest.Authorize) != 0 {
			t.Errorf("%s: authorize was asked", name)
		}
	}
}

func TestACodeIsWorthNothingElsewhere(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{})
	mine := newFlowTo(t, mcp.URL)
	mine.register(oauth.RegisterRequest{})
	q := mine.authorize()
	theirs := newFlowTo(t, mcp.URL) // another flow: another verifier
	theirs.Peer = mine.Peer
	wantKind(t, theirs.exchange(q), oauth.KindDead)
	wantKind(t, mine.exchange(q), oauth.KindDead)
}

func TestWithoutAPolicyOnlyHTTPSIsSpoken(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	c := &oauth.Client{HTTP: testclient.New(t)}
	_, err := c.Discover(t.Context(), oauth.Target{ServerURL: tr.URL})
	if wantKind(t, err, oauth.KindRefused); tr.hits.Load() != 0 {
		t.Error("plain HTTP was spoken")
	}
}

func TestNoTextOfAServerIsTold(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{Edit: func(d oauthtest.Document) {
		d["issuer"] = "https://x.example/" + "<script>REFLECTED"
	}})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{})
	d, err := newClient(t).Discover(t.Context(), oauth.Target{ServerURL: mcp.URL})
	wantKind(t, err, oauth.KindRefused)
	for _, step := range d.Trace {
		if text := step.URL + step.Read + step.Decided; strings.Contains(text, "<script") {
			t.Errorf("remote text in the trace: %q", text)
		}
	}
}
