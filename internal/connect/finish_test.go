package connect_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

func TestAStateThatIsNotPendingIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	back := b.agree(t, b.start(t, c, nil))
	state := back.Get("state")
	for name, change := range map[string]func(q url.Values){
		"missing":     func(q url.Values) { q.Del("state") },
		"empty":       func(q url.Values) { q.Set("state", "") },
		"unknown":     func(q url.Values) { q.Set("state", strings.Repeat("x", 43)) },
		"twice":       func(q url.Values) { q.Add("state", state) },
		"longer":      func(q url.Values) { q.Set("state", state+".1") },
		"its hash":    func(q url.Values) { q.Set("state", string(b.stateHash(t))) },
		"no response": func(q url.Values) { clear(q) },
	} {
		q := maps.Clone(back)
		change(q)
		_, err := b.broker.Finish(t.Context(), q, b.browser())
		f := faultOf(t, err, fault.Malformed, "")
		if f.Message != "This connection expired or was already used. Reconnect." {
			t.Errorf("%s: told %q", name, f.Message)
		}
	}
	_, err := b.owner(t).Exec(t.Context(), "update oauth_flows set expires_at = now()")
	must(t, err)
	_, err = b.broker.Finish(t.Context(), back, b.browser())
	wantFault(t, err, fault.Malformed, "")
	b.wantNothing(t, c)
}

// stateHash is what the database has of the state.
func (b *bundle) stateHash(t testing.TB) (hash []byte) {
	t.Helper()
	must(t, b.owner(t).QueryRow(t.Context(), "select state_hash from oauth_flows").Scan(&hash))
	return hash
}

func TestACallbackWorksOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	back := b.agree(t, b.start(t, c, nil))
	brokers := []*connect.Broker{b.broker, b.replica(t)}
	results := make(chan error, 10)
	for i := range cap(results) {
		go func() {
			_, err := brokers[i%2].Finish(t.Context(), back, b.browser())
			results <- err
		}()
	}
	finished := 0
	for range cap(results) {
		if err := <-results; err == nil {
			finished++
		} else {
			wantFault(t, err, fault.Malformed, "")
		}
	}
	if n := b.as.Count(oauthtest.Exchange); finished != 1 || n != 1 {
		t.Errorf("finished %d times, by %d token requests", finished, n)
	}
}

func TestOnlyTheMemberWhoStartedFinishes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	other := b.person(t, b.Tenant, connectors.RoleOwner)
	elsewhere, demoted := b.admin, b.admin
	elsewhere.Tenant.ID, elsewhere.Role = b.Other, connectors.RoleOwner
	demoted.Role = connectors.RoleMember
	key := auth.Actor{Kind: auth.KindKey, Tenant: b.admin.Tenant, Role: connectors.RoleOwner}
	for name, br := range map[string]connect.BrowserBindings{
		"another browser":         {Session: "session:of somebody", Person: &b.admin},
		"no browser":              {Person: &b.admin},
		"the cookie of a link":    {Cookie: connect.CookieBinding("of the admin"), Person: &b.admin},
		"nobody signed in":        {Session: session},
		"another member":          {Session: session, Person: &other},
		"in another tenant":       {Session: session, Person: &elsewhere},
		"not an admin any more":   {Session: session, Person: &demoted},
		"a program":               {Session: session, Person: &key},
		"a prefix of the session": {Session: session[:10], Person: &b.admin},
		"the session as a cookie": {Cookie: "cookie:of the admin", Person: &b.admin},
	} {
		t.Run(name, func(t *testing.T) {
			c := b.protected(t)
			back := b.agree(t, b.start(t, c, nil))
			_, err := b.broker.Finish(t.Context(), back, br)
			wantFault(t, err, fault.Malformed, "")
			_, err = b.broker.Finish(t.Context(), back, b.browser()) // the flow is used up
			wantFault(t, err, fault.Malformed, "")
			b.wantNothing(t, c)
		})
	}
}

func TestBindingsOfNothingBindNothing(t *testing.T) {
	t.Parallel()
	if !connect.SessionBinding("").Empty() || !connect.CookieBinding("").Empty() || connect.SessionBinding("x") == connect.CookieBinding("x") {
		t.Error("bindings")
	}
}

func TestTheIssuerIsComparedBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	for name, iss := range map[string]oauthtest.Iss{
		"wrong": oauthtest.IssWrong, "missing though promised": oauthtest.IssMissing, "wrong and not promised": oauthtest.IssWrongQuiet,
	} {
		for _, deny := range []string{"", "access_denied", "invalid_scope"} {
			t.Run(name+" "+deny, func(t *testing.T) {
				t.Parallel()
				b := newBundle(t, oauthtest.Behaviour{Iss: iss, Deny: deny}, oauthtest.ResourceBehaviour{Scope: "read"})
				c := b.protected(t)
				_, err := b.broker.Finish(t.Context(), b.agree(t, b.start(t, c, nil)), b.browser())
				f := faultOf(t, err, fault.Malformed, "refused")
				if !strings.Contains(f.Message, "authorization server") || strings.Contains(f.Message, "attacker") {
					t.Errorf("told %q", f.Message)
				}
				b.wantNothing(t, c)
			})
		}
	}
}

// The one slash that is forgiven in a document is not forgiven here (RFC 9207 §2.4).
func TestTheIssuerIsComparedAsItIs(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{Iss: oauthtest.IssRight}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	for _, iss := range []string{b.as.Issuer + "/", strings.ToUpper(b.as.Issuer), b.as.Issuer + "#", ""} {
		back := b.agree(t, b.start(t, c, nil))
		back.Set("iss", iss)
		_, err := b.broker.Finish(t.Context(), back, b.browser())
		wantFault(t, err, fault.Malformed, "refused")
	}
	b.wantNothing(t, c)
	b.connect(t, c, nil)
}

func TestARefusalIsToldInOurWords(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]fault.Kind{
		"access_denied": fault.Denied, "login_required": fault.Denied, "consent_required": fault.Denied,
		"server_error": fault.Upstream, "temporarily_unavailable": fault.Upstream, "invalid_request": fault.Upstream,
		"unauthorized_client": fault.Upstream, oauthtest.Reflected: fault.Upstream,
	} {
		t.Run(code[:4], func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{Deny: code}, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			_, err := b.broker.Finish(t.Context(), b.agree(t, b.start(t, c, nil)), b.browser())
			f := fault.As(err)
			if f == nil || f.Kind != want || code != oauthtest.Reflected && f.Code != code {
				t.Fatalf("error = %v", err)
			}
			if told := f.Error() + f.Code + b.logs.String(); strings.Contains(told, "REFLECTED") || f.Message == "" {
				t.Errorf("told %q", told)
			}
			b.wantNothing(t, c)
		})
	}
}

func TestAnAnswerWithoutACodeIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	for _, change := range []func(q url.Values){
		func(q url.Values) { q.Del("code") },
		func(q url.Values) { q.Add("code", "second") },
		func(q url.Values) { q.Set("code", strings.Repeat("x", 9000)) },
		func(q url.Values) { q.Set("code", "a\nb") },
	} {
		back := b.agree(t, b.start(t, c, nil))
		change(back)
		_, err := b.broker.Finish(t.Context(), back, b.browser())
		if !fault.Is(err, fault.Malformed) {
			t.Errorf("error = %v", err)
		}
	}
	b.wantNothing(t, c)
}

func TestFinish_ConnectorChanged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *bundle, connectors.Connector, connectors.Agent){
		"moved to another origin": func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) {
			b.change(t, c, func(d *connectors.Draft) { d.URL = "https://elsewhere.example/mcp" })
		},
		"another port": func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) {
			b.change(t, c, func(d *connectors.Draft) { d.URL = "http://127.0.0.1:9/mcp" })
		},
		"another authentication": func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) {
			b.change(t, c, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
		},
		"one for all": func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) {
			b.change(t, c, func(d *connectors.Draft) { d.CredentialMode = connectors.CredentialShared })
		},
		"connector deleted": func(t *testing.T, b *bundle, c connectors.Connector, _ connectors.Agent) {
			must(t, b.Door().Connectors().Delete(t.Context(), c.ID))
		},
		"agent deleted": func(t *testing.T, b *bundle, _ connectors.Connector, a connectors.Agent) {
			must(t, b.Door().Agents().Delete(t.Context(), a.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
			c, agent := b.protected(t, perAgent), b.Agent(t)
			back := b.agree(t, b.start(t, c, agentRef(agent)))
			change(t, b, c, agent)
			_, err := b.broker.Finish(t.Context(), back, b.browser())
			wantFault(t, err, fault.Malformed, "")
			if n := b.as.Count(oauthtest.Exchange) + b.count(t, "credentials"); n != 0 || b.count(t, "audit_events") != 1 { // that it was begun
				t.Errorf("%d token requests and rows, %d entries on record", n, b.count(t, "audit_events"))
			}
		})
	}
}

// The same while the code is exchanged: what was granted is given back.
func TestFinish_OriginChangedDuringExchange(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	b := newBundle(t, oauthtest.Behaviour{Hold: hold}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	back := b.agree(t, b.start(t, c, nil))
	ended := make(chan error, 1)
	go func() {
		_, err := b.broker.Finish(t.Context(), back, b.browser())
		ended <- err
	}()
	<-b.as.Arrived(oauthtest.Exchange)
	b.change(t, c, func(d *connectors.Draft) { d.URL = "https://elsewhere.example/mcp" })
	close(hold)
	wantFault(t, <-ended, fault.Malformed, "")
	if n := b.count(t, "credentials") + b.count(t, "sync_runs"); n != 0 {
		t.Errorf("%d rows", n)
	}
	if n := b.as.Count(oauthtest.Revoke); n != 1 {
		t.Errorf("given back %d times", n)
	}
}

func TestFinish_ExchangeFailureStoresNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trouble oauthtest.Trouble
		code    string
		said    string // a part of what admins read of the server's response
	}{
		"503": {oauthtest.Unavailable, "http_status", "REFLECTED"}, "500": {oauthtest.ServerError, "http_status", "REFLECTED"}, "429": {oauthtest.TooMany, "http_status", ""},
		"reset": {oauthtest.Reset, "unreachable", ""}, "page": {oauthtest.Page, "protocol", "Just a moment"}, "endless": {oauthtest.Endless, "protocol", ""},
		"redirect": {oauthtest.Redirect, "protocol", ""}, "dead": {oauthtest.DeadGrant, "invalid_grant", "REFLECTED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
			b.as.Elsewhere = b.mcp.URL
			c := b.protected(t)
			back := b.agree(t, b.start(t, c, nil))
			b.as.Set(func(as *oauthtest.Behaviour) { as.Token = tc.trouble })
			_, err := b.broker.Finish(t.Context(), back, b.browser())
			f := faultOf(t, err, fault.Upstream, tc.code)
			if !strings.Contains(strings.ToLower(f.Message), "authorization server") || strings.Contains(f.Error(), "REFLECTED") {
				t.Errorf("told %q", f.Error())
			}
			if said := f.Remote.Said; !strings.Contains(said, tc.said) || strings.Contains(said, back.Get("code")) || strings.Contains(b.logs.String(), "REFLECTED") {
				t.Errorf("the authorization server said %q", said)
			}
			list, err := b.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{})
			if n := b.as.Count(oauthtest.Exchange); err != nil || n != 1 || len(list.Items) != 0 {
				t.Errorf("%d token requests, stored %v, %v", n, list.Items, err)
			}
		})
	}
}

func TestScopesThatAreRefusedAreAskedForNoMore(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{Scopes: []string{"offline_access"}, RefuseScopes: []string{"offline_access", "all"}}, oauthtest.ResourceBehaviour{Scopes: []string{"all"}})
	c := b.protected(t)
	var scopes []string
	next := b.start(t, c, nil)
	for {
		scopes = append(scopes, probeResult(t, next).Get("scope"))
		done, err := b.broker.Finish(t.Context(), b.agree(t, next), b.browser())
		must(t, err)
		if done.Restarted == nil {
			break
		}
		if done.Run != nil || b.count(t, "credentials") != 0 {
			t.Fatal("connected before its time")
		}
		next = *done.Restarted
	}
	if diff := cmp.Diff([]string{"all offline_access", "all", ""}, scopes); diff != "" {
		t.Error(diff)
	}
	if n := b.as.Count(oauthtest.Exchange); n != 1 {
		t.Errorf("%d token requests", n)
	}
	b.grant(t, c, nil)
}

func TestRestart_KeepsAdminScopes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{RefuseScopes: []string{"mine"}}, oauthtest.ResourceBehaviour{})
	c := b.protected(t, func(d *connectors.Draft) { d.OAuth.Scopes = []string{"mine"} })
	_, err := b.broker.Finish(t.Context(), b.agree(t, b.start(t, c, nil)), b.browser())
	f := faultOf(t, err, fault.Upstream, "invalid_scope")
	if !strings.Contains(f.Message, "Set scopes it grants.") {
		t.Errorf("told %q", f.Message)
	}
	b.wantNothing(t, c)
}

// Beginning anew by itself is for the same browser and member, and it has an end.
func TestBeginningAnewIsBoundAndBounded(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{Deny: "invalid_scope"}, oauthtest.ResourceBehaviour{Scopes: []string{"all"}})
	c := b.protected(t)
	done, err := b.broker.Finish(t.Context(), b.agree(t, b.start(t, c, nil)), b.browser())
	if err != nil || done.Restarted == nil {
		t.Fatalf("finished = %+v, %v", done, err)
	}
	back := b.agree(t, *done.Restarted)
	_, err = b.broker.Finish(t.Context(), back, connect.BrowserBindings{Session: "session:of somebody", Person: &b.admin})
	wantFault(t, err, fault.Malformed, "")

	next, rounds := b.start(t, c, nil), 0
	for ; rounds < 10; rounds++ {
		if done, err = b.broker.Finish(t.Context(), b.agree(t, next), b.browser()); err != nil {
			break
		}
		next = *done.Restarted
	}
	wantFault(t, err, fault.Upstream, "invalid_scope")
	if rounds != 1 { // there was one thing to leave out
		t.Errorf("begun anew %d times", rounds)
	}
	b.wantNothing(t, c)
}

func TestRegistration_ForgottenClientIsRenewedOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	back := b.agree(t, b.start(t, c, nil))
	b.as.ForgetClients()
	done, err := b.broker.Finish(t.Context(), back, b.browser())
	if err != nil || done.Restarted == nil || b.count(t, "credentials") != 0 {
		t.Fatalf("finished = %+v, %v", done, err)
	}
	if done, err = b.broker.Finish(t.Context(), b.agree(t, *done.Restarted), b.browser()); err != nil || done.Restarted != nil {
		t.Fatalf("finished = %+v, %v", done, err)
	}
	b.grant(t, c, nil)

	b.as.Set(func(as *oauthtest.Behaviour) { as.Token = oauthtest.DeadClient }) // and a server that never knows a client
	before := b.as.Count(oauthtest.Register)
	done, err = b.broker.Finish(t.Context(), b.agree(t, b.start(t, c, nil)), b.browser())
	if err != nil || done.Restarted == nil {
		t.Fatalf("finished = %+v, %v", done, err)
	}
	_, err = b.broker.Finish(t.Context(), b.agree(t, *done.Restarted), b.browser())
	wantFault(t, err, fault.Upstream, "invalid_client")
	if n := b.as.Count(oauthtest.Register) - before; n != 1 {
		t.Errorf("registered %d times more", n)
	}
}

// A person redirected with a forgotten client sees an error page and never returns.
func TestStart_DetectsForgottenClient(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	b.as.ForgetClients()
	b.connect(t, c, nil)
	if n := b.as.Count(oauthtest.Register); n != 2 {
		t.Errorf("registered %d times", n)
	}
}

// What is wrong may be something else, and grants hang on the old client.
func TestStart_UnrecognizedNewClientKeepsOld(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	known := b.grant(t, c, nil).Tokens.Meta.ClientID
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadRequest) }))
	t.Cleanup(page.Close)
	b.as.Set(func(as *oauthtest.Behaviour) {
		as.Edit = func(d oauthtest.Document) { d["authorization_endpoint"] = page.URL }
	})
	if id := probeResult(t, b.start(t, c, nil)).Get("client_id"); id != known {
		t.Errorf("client id %s, was %s", id, known)
	}
	r, err := b.St.Vault(b.Tenant).Registration(t.Context(), b.as.Issuer, b.broker.RedirectURI())
	if err != nil || r.ClientID != known {
		t.Errorf("registration %s, %v", r.ClientID, err)
	}
}

// Another flow may have found the client forgotten, or another replica registered at the same time.
func TestFinish_RestartsWithCurrentClient(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	back := b.agree(t, b.start(t, c, nil))
	must(t, b.Door().Accounts().DeleteRegistration(t.Context(), b.as.Issuer, baseURL+"/oauth/callback", b.as.Requests(oauthtest.Authorize)[0].Query.Get("client_id")))
	b.start(t, c, nil)
	done, err := b.broker.Finish(t.Context(), back, b.browser())
	if err != nil || done.Restarted == nil {
		t.Fatalf("finished = %+v, %v", done, err)
	}
	if n := b.as.Count(oauthtest.Exchange); n != 0 {
		t.Errorf("%d token requests with the wrong client", n)
	}
	_, err = b.broker.Finish(t.Context(), b.agree(t, *done.Restarted), b.browser())
	must(t, err)
	if n := b.as.Count(oauthtest.Register); n != 2 {
		t.Errorf("registered %d times", n)
	}
	b.grant(t, c, nil)
}

func TestFinish_KeepsConfiguredClient(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b.as.AddClient("by hand", "right", nil, baseURL+"/oauth/callback")
	c := b.protected(t, func(d *connectors.Draft) { d.OAuth.ClientID = "by hand" })
	must(t, b.Door().Connectors().SetClientSecret(t.Context(), c, "wrong"))
	_, err := b.broker.Finish(t.Context(), b.agree(t, b.start(t, c, nil)), b.browser())
	f := faultOf(t, err, fault.Upstream, "invalid_client")
	if !strings.Contains(f.Message, "client ID and secret") {
		t.Errorf("told %q", f.Message)
	}
	if n := b.as.Count(oauthtest.Register); n != 0 {
		t.Errorf("registered %d times", n)
	}
}

// An account of a server that binds tokens to keys is refreshed and used with the key of its connection.
func TestFinish_BoundTokens(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{DPoP: true, Nonce: "n-1", Rotate: true}, oauthtest.ResourceBehaviour{TakesProofs: true, Nonce: "n-2"})
	c := b.protected(t)
	b.connect(t, c, nil)
	g := b.grant(t, c, nil)
	if !g.Tokens.Bound || g.Tokens.ProofKey.Empty() {
		t.Fatal("the stored token is bound to no key")
	}
	b.as.ExpireAccess()
	resolver := credentials.NewRefreshing(credentials.Options{Store: b.St, OAuth: &oauth.Client{HTTP: b.egress.Client(), CheckURL: b.egress.CheckURL}})
	u, err := resolver.ForceRefresh(t.Context(), b.Tenant, b.now(t, c), g.ID, g.Version)
	must(t, err)
	if u.Headers[0].Proof == nil || !strings.HasPrefix(u.Headers[0].Value.Reveal(), "DPoP ") {
		t.Errorf("the token is sent as %s", strings.Fields(u.Headers[0].Value.Reveal())[0])
	}
	if next := b.grant(t, c, nil); next.Tokens.ProofKey != g.Tokens.ProofKey || !next.Tokens.Bound || next.Tokens.AccessToken == g.Tokens.AccessToken {
		t.Error("the refreshed token has another key")
	}
}
