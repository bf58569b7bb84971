package connect_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/testing/egressproxy"
)

// trap is a server that must not be contacted. It cooperates with every caller.
type trap struct {
	URL  string
	hits atomic.Int32
}

func newTrap(t testing.TB) *trap {
	t.Helper()
	tr := &trap{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tr.hits.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"trap","client_id":"trap","resource":"x","issuer":"x","token_endpoint":"x"}`))
	}))
	t.Cleanup(server.Close)
	tr.URL = server.URL
	return tr
}

// strict makes the bundle's broker reach what is public, and the bundle's own two servers alone.
func (b *bundle) strict(t testing.TB) {
	t.Helper()
	allow, err := safehttp.ParseAllow(strings.TrimPrefix(b.as.Origin(), "http://") + "," + strings.TrimPrefix(strings.TrimSuffix(b.mcp.URL, "/mcp"), "http://"))
	must(t, err)
	b.egress = safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow})
	t.Cleanup(b.egress.Client().CloseIdleConnections)
	b.broker = b.process(b.St, b.egress)
}

// Every URL of every document, and every one that an admin may be talked into, is aimed at a server that only we can reach.
func TestNoURLLeadsInside(t *testing.T) {
	t.Parallel()
	endpoint := func(name string) func(*bundle, *connectors.Draft, string) {
		return func(b *bundle, _ *connectors.Draft, raw string) {
			b.as.Set(func(as *oauthtest.Behaviour) { as.Edit = func(d oauthtest.Document) { d[name] = raw } })
		}
	}
	places := map[string]func(*bundle, *connectors.Draft, string){
		"resource_metadata": func(b *bundle, _ *connectors.Draft, raw string) {
			b.mcp.Set(func(m *oauthtest.ResourceBehaviour) { m.MetadataURL = raw })
		},
		"authorization_servers": func(b *bundle, _ *connectors.Draft, raw string) {
			b.mcp.Set(func(m *oauthtest.ResourceBehaviour) { m.Servers = []string{raw} })
		},
		"authorization_endpoint": endpoint("authorization_endpoint"), "token_endpoint": endpoint("token_endpoint"),
		"registration_endpoint": endpoint("registration_endpoint"), "revocation_endpoint": endpoint("revocation_endpoint"),
		"the MCP server":         func(_ *bundle, d *connectors.Draft, raw string) { d.URL = raw },
		"an issuer entered":      func(_ *bundle, d *connectors.Draft, raw string) { d.OAuth.Issuer = raw },
		"a token endpoint":       func(_ *bundle, d *connectors.Draft, raw string) { d.OAuth.TokenEndpoint = raw },
		"an authorization entry": func(_ *bundle, d *connectors.Draft, raw string) { d.OAuth.AuthorizationEndpoint = raw },
	}
	for place, aim := range places {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			tr := newTrap(t)
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
			b.strict(t)
			for name, raw := range inside(tr.URL) {
				c := b.protected(t, func(d *connectors.Draft) { aim(b, d, raw) })
				b.allTheWay(t, name, c)
				if n := tr.hits.Load(); n != 0 {
					t.Fatalf("%s: the trap was hit %d times", name, n)
				}
				b.AsOwner(t, "delete from client_registrations")
			}
		})
	}
}

// inside are ways to write an address that is not for us.
func inside(trap string) map[string]string {
	port := trap[strings.LastIndexByte(trap, ':'):]
	return map[string]string{
		"loopback": trap + "/mcp", "localhost": "http://localhost" + port + "/mcp", "numeric": "http://2130706433" + port + "/mcp",
		"mapped": "http://[::ffff:127.0.0.1]" + port + "/mcp", "zero": "http://0.0.0.0" + port + "/mcp", "short": "http://127.1" + port + "/mcp",
		"metadata service": "http://169.254.169.254/latest", "private": "https://10.0.0.1/mcp", "userinfo": "http://a:b@127.0.0.1" + port + "/mcp",
		"file": "file:///etc/passwd", "javascript": "javascript:alert(1)//" + trap, "data": "data:application/json,{}", "no scheme": "//127.0.0.1" + port,
		"backslash": "http://as.example\\@127.0.0.1" + port + "/mcp", "line break": trap + "/mcp\r\nHost: y",
	}
}

// allTheWay does every step that works: what a start lets pass is used.
func (b *bundle) allTheWay(t *testing.T, name string, c connectors.Connector) {
	t.Helper()
	_, err := b.broker.Diagnose(t.Context(), b.admin, ref(c.ID))
	must(t, err)
	s, err := b.broker.Start(t.Context(), b.admin, order(c, nil))
	if err == nil { // the second one asks for the client of the first
		s, err = b.broker.Start(t.Context(), b.admin, order(c, nil))
	}
	if err != nil {
		if f := fault.As(err); f.Kind != fault.Upstream && f.Code != "client_id_needed" {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	if !strings.HasPrefix(s.AuthorizeURL, b.as.Origin()+"/authorize?") {
		t.Fatalf("%s: a browser would be sent to %s", name, s.AuthorizeURL)
	}
	if _, err := b.broker.Finish(t.Context(), b.agree(t, s), b.browser()); err == nil {
		must(t, b.broker.Disconnect(t.Context(), b.admin, ref(c.ID), nil))
	}
}

func TestWhatTheEgressRulesForbidIsSaid(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Servers: []string{"https://10.0.0.1"}})
	b.strict(t)
	_, err := b.broker.Start(t.Context(), b.admin, order(b.protected(t), nil))
	if f := faultOf(t, err, fault.Upstream, "blocked"); !strings.Contains(f.Message, "10.0.0.1") {
		t.Errorf("told %q", f.Message)
	}
}

// A document changed since the start has no effect: the flow stores its server.
func TestTheCodeGoesWhereTheFlowWasStarted(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	back := b.agree(t, b.start(t, c, nil))
	b.as.Set(func(as *oauthtest.Behaviour) { as.Edit = func(d oauthtest.Document) { d["token_endpoint"] = tr.URL } })
	b.mcp.Set(func(m *oauthtest.ResourceBehaviour) { m.Servers = []string{tr.URL} })
	_, err := b.broker.Finish(t.Context(), back, b.browser())
	if n := tr.hits.Load(); err != nil || n != 0 {
		t.Errorf("%v, the trap was hit %d times", err, n)
	}
}

// The attacker's server sends the browser on to the honest one, with the state of our flow, to get the honest one's code.
func TestMixUpOfServers(t *testing.T) {
	t.Parallel()
	attacker := oauthtest.Start(t, oauthtest.Behaviour{})
	b := newBundle(t, oauthtest.Behaviour{Iss: oauthtest.IssUnasked}, oauthtest.ResourceBehaviour{})
	honest := b.protected(t)
	b.connect(t, honest, nil)
	known := b.as.Requests(oauthtest.Authorize)[0].Query.Get("client_id")
	before := b.as.Count(oauthtest.Exchange)

	evil := b.Connector(t, oauth2, func(d *connectors.Draft) {
		d.URL, d.OAuth.Issuer = attacker.Protect(t, oauthtest.ResourceBehaviour{}).URL, attacker.Issuer
	})
	s := b.start(t, evil, nil)
	q := probeResult(t, s)
	q.Set("client_id", known)
	s.AuthorizeURL = b.as.Origin() + "/authorize?" + q.Encode()
	_, err := b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
	wantFault(t, err, fault.Malformed, "refused")
	if n := attacker.Count(oauthtest.Exchange) + b.as.Count(oauthtest.Exchange) - before; n != 0 {
		t.Errorf("%d token requests were sent", n)
	}

	// Nor does it get anywhere by calling itself by the honest one's name.
	attacker.Set(func(as *oauthtest.Behaviour) {
		as.DocumentIssuer = b.as.Issuer
		as.Edit = func(d oauthtest.Document) { d["token_endpoint"] = attacker.Origin() + "/token" }
	})
	_, err = b.broker.Start(t.Context(), b.admin, order(evil, nil))
	wantFault(t, err, fault.Upstream, "refused")
}

// A state belongs to its connector and issuer: with another server's callback no code is sent anywhere, and the
// state is used up.
func TestFinish_StateIsBound(t *testing.T) {
	t.Parallel()
	attacker := oauthtest.Start(t, oauthtest.Behaviour{Iss: oauthtest.IssRight})
	b := newBundle(t, oauthtest.Behaviour{Iss: oauthtest.IssRight}, oauthtest.ResourceBehaviour{})
	honest := b.protected(t)
	evil := b.Connector(t, oauth2, func(d *connectors.Draft) { d.URL = attacker.Protect(t, oauthtest.ResourceBehaviour{}).URL })
	for name, mix := range map[string]func(honest, evil url.Values) url.Values{
		"the honest one's flow, answered by the attacker": func(h, e url.Values) url.Values { return swapped(e, "state", h) },
		"the attacker's flow, answered by the honest one": func(h, e url.Values) url.Values { return swapped(h, "state", e) },
		"the attacker's code in the honest one's answer":  func(h, e url.Values) url.Values { return swapped(h, "code", e) },
		"the honest one's answer, in another's name":      func(h, e url.Values) url.Values { return swapped(h, "iss", e) },
		"the honest one's answer, in nobody's name":       func(h, _ url.Values) url.Values { return swapped(h, "iss", url.Values{}) },
		"the attacker's answer, in the honest one's name": func(h, e url.Values) url.Values { return swapped(e, "iss", h) },
		"an error of the attacker's, in the honest flow": func(h, e url.Values) url.Values {
			return swapped(url.Values{"error": {"access_denied"}, "iss": e["iss"]}, "state", h)
		},
	} {
		before := attacker.Count(oauthtest.Exchange)
		fromHonest, fromEvil := b.agree(t, b.start(t, honest, nil)), b.agree(t, b.start(t, evil, nil))
		answer := mix(fromHonest, fromEvil)
		_, err := b.broker.Finish(t.Context(), answer, b.browser())
		if name == "the attacker's code in the honest one's answer" {
			wantFault(t, err, fault.Upstream, "invalid_grant") // it goes to the honest one, which does not know it
		} else if !fault.Is(err, fault.Malformed) {
			t.Errorf("%s: %v", name, err)
		}
		if n := attacker.Count(oauthtest.Exchange) - before; n != 0 {
			t.Errorf("%s: %d codes were sent to the attacker", name, n)
		}
		for _, right := range []url.Values{fromHonest, fromEvil} {
			if right.Get("state") != answer.Get("state") {
				continue
			}
			if _, err := b.broker.Finish(t.Context(), right, b.browser()); !fault.Is(err, fault.Malformed) {
				t.Errorf("%s: the state is good afterwards: %v", name, err)
			}
		}
	}
	for _, c := range []connectors.Connector{honest, evil} {
		if list, err := b.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{}); err != nil || len(list.Items) != 0 {
			t.Errorf("%s: stored %v, %v", c.Slug, list.Items, err)
		}
	}
}

// swapped is an answer with one of its values from another one.
func swapped(answer url.Values, name string, from url.Values) url.Values {
	out := url.Values{}
	for key, values := range answer {
		out[key] = values
	}
	delete(out, name)
	if from.Has(name) {
		out.Set(name, from.Get(name))
	}
	return out
}

// A hostile MCP server names the honest authorization server. Its claim to be the honest resource is refused.
// As itself it gets a token for itself alone.
func TestFinish_TokenIsBoundToItsResource(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{Iss: oauthtest.IssRight}, oauthtest.ResourceBehaviour{})
	b.connect(t, b.protected(t), nil)
	theirs := oauthtest.Start(t, oauthtest.Behaviour{}).Protect(t, oauthtest.ResourceBehaviour{Servers: []string{b.as.Issuer}, Resource: b.mcp.URL})
	evil := b.Connector(t, oauth2, func(d *connectors.Draft) { d.URL = theirs.URL })
	_, err := b.broker.Start(t.Context(), b.admin, order(evil, nil))
	wantFault(t, err, fault.Upstream, "refused")

	theirs.Set(func(r *oauthtest.ResourceBehaviour) { r.Resource = "" })
	before := len(b.as.Requests(oauthtest.Authorize, oauthtest.Exchange))
	s := b.start(t, evil, nil)
	if got := probeResult(t, s).Get("resource"); got != theirs.URL {
		t.Errorf("a token is asked for %q", got)
	}
	_, err = b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
	must(t, err)
	for _, r := range b.as.Requests(oauthtest.Authorize, oauthtest.Exchange)[before:] {
		if got := r.Query.Get("resource") + r.Form.Get("resource"); got != theirs.URL {
			t.Errorf("%s is asked for %q", r.Kind, got)
		}
	}
	if g := b.grant(t, evil, nil); g.Origin != connectors.Origin(theirs.URL) {
		t.Errorf("it is kept for %s", g.Origin)
	}
}

func TestPKCECannotBeTalkedDown(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]oauthtest.Behaviour{"plain": {PKCE: []string{"plain"}}, "none": {PKCE: []string{}}, "silent": {NoPKCE: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, as, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			_, err := b.broker.Start(t.Context(), b.admin, order(c, nil))
			wantFault(t, err, fault.Upstream, "refused")
			_, err = b.broker.AcceptLink(t.Context(), b.link(t, c, nil, ""), cookie)
			wantFault(t, err, fault.Upstream, "refused")
			if n := b.count(t, "oauth_flows"); n != 0 {
				t.Errorf("%d flows", n)
			}
		})
	}
	b := newBundle(t, oauthtest.Behaviour{PKCE: []string{"plain", "S256"}}, oauthtest.ResourceBehaviour{})
	if q := probeResult(t, b.start(t, b.protected(t), nil)); q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 {
		t.Errorf("asks with %v", q)
	}
}

// An attacker, admin of a tenant of their own, agrees with their own account and has the victim's browser bring the answer.
func TestLoginCSRF(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	attacker := b.person(t, b.Other, connectors.RoleOwner)
	theirs := b.ConnectorIn(t, b.Other, oauth2, func(d *connectors.Draft) { d.URL = b.mcp.URL })
	for name, start := range map[string]func() (connect.Authorization, error){
		"from their tenant": func() (connect.Authorization, error) {
			return b.broker.Start(t.Context(), attacker, connect.StartRequest{Connector: ref(theirs.ID), Browser: "session:of the attacker"})
		},
		"from a link": func() (connect.Authorization, error) {
			return b.broker.AcceptLink(t.Context(), b.link(t, c, nil, ""), "cookie:of the attacker")
		},
		"with a cookie that looks like a session": func() (connect.Authorization, error) {
			return b.broker.AcceptLink(t.Context(), b.link(t, c, nil, ""), connect.CookieBinding("of the admin"))
		},
	} {
		s, err := start()
		must(t, err)
		_, err = b.broker.Finish(t.Context(), b.agree(t, s), connect.BrowserBindings{Session: session, Cookie: cookie, Person: &b.admin})
		if !fault.Is(err, fault.Malformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.wantNothing(t, c)
}

// The state of one flow with the code of another: PKCE makes it worthless, and nothing is stored.
func TestACodeIsWorthNothingInAnotherFlow(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c, other := b.protected(t), b.protected(t)
	mine, stolen := b.agree(t, b.start(t, c, nil)), b.agree(t, b.start(t, other, nil))
	mine.Set("code", stolen.Get("code"))
	_, err := b.broker.Finish(t.Context(), mine, b.browser())
	wantFault(t, err, fault.Upstream, "invalid_grant")
	list, err := b.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("stored %v, %v", list.Items, err)
	}
}

// What we hold is for the connector: the question to its server, and everything asked of other servers, goes without.
func TestNoTokenTravelsWithTheQuestion(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	b.connect(t, c, nil)
	_, err := b.broker.Diagnose(t.Context(), b.admin, ref(c.ID))
	must(t, err)
	for _, token := range b.mcp.Tokens() {
		if token != "" {
			t.Error("a token was sent")
		}
	}
	for _, r := range b.as.Requests() {
		if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer") || r.Header.Get("Cookie") != "" {
			t.Errorf("%s carries a credential", r.Path)
		}
	}
}

// A document must not choose the receiver of the code, or its client.
func TestStart_EndpointCannotOverrideParameters(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b.as.Set(func(as *oauthtest.Behaviour) {
		as.Edit = func(d oauthtest.Document) {
			d["authorization_endpoint"] = b.as.Origin() + "/authorize?" + url.Values{
				"redirect_uri": {"https://evil.example/"}, "state": {"fixed"}, "client_id": {"evil"}, "code_challenge_method": {"plain"},
				"scope": {"everything"}, "request_uri": {"https://evil.example/r"}, "tenant": {"kept"},
			}.Encode()
		}
	})
	q := probeResult(t, b.start(t, b.protected(t), nil))
	if q.Get("redirect_uri") != b.broker.RedirectURI() || q.Get("state") == "fixed" || q.Get("client_id") == "evil" ||
		q.Get("code_challenge_method") != "S256" || q.Has("scope") || q.Has("request_uri") || q.Get("tenant") != "kept" {
		t.Errorf("asks with %v", q)
	}
}

func TestAProxyThatFailsIsSaid(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Servers: []string{"https://8.8.8.8"}})
	allow, err := safehttp.ParseAllow(strings.TrimPrefix(strings.TrimSuffix(b.mcp.URL, "/mcp"), "http://"))
	must(t, err)
	b.broker = b.process(b.St, safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow, Proxy: egressproxy.Refusing(t, 407)}))
	_, err = b.broker.Start(t.Context(), b.admin, order(b.protected(t), nil))
	if f := faultOf(t, err, fault.Upstream, "egress_proxy"); !strings.HasPrefix(f.Message, "The egress proxy refused Patchbay's credentials (407).") {
		t.Errorf("told %q", f.Message)
	}
}
