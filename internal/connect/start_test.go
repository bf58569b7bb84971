package connect_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

// probeResult are the parameters of an authorization URL.
func probeResult(t testing.TB, s connect.Authorization) url.Values {
	t.Helper()
	u, err := url.Parse(s.AuthorizeURL)
	must(t, err)
	return u.Query()
}

func TestStart_Permissions(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	shared, own, agent := b.protected(t), b.protected(t, perAgent), b.Agent(t)
	bearer := b.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	theirs, missing := b.AgentIn(t, b.Other), connectors.Ref("missing")
	for name, tc := range map[string]struct {
		actor     auth.Actor
		connector connectors.Ref
		agent     *connectors.Ref
		want      fault.Kind
	}{
		"a member":                      {b.person(t, b.Tenant, connectors.RoleMember), ref(shared.ID), nil, fault.Denied},
		"an admin of another tenant":    {b.person(t, b.Other, connectors.RoleAdmin), ref(shared.ID), nil, fault.NotFound},
		"no such connector":             {b.admin, missing, nil, fault.NotFound},
		"a bearer token":                {b.admin, ref(bearer.ID), nil, fault.Conflict},
		"per agent, none named":         {b.admin, ref(own.ID), nil, fault.Conflict},
		"shared, an agent named":        {b.admin, ref(shared.ID), agentRef(agent), fault.Conflict},
		"per agent, another's tenant's": {b.admin, ref(own.ID), agentRef(theirs), fault.NotFound},
	} {
		o := connect.StartRequest{Connector: tc.connector, Agent: tc.agent, Browser: session}
		if _, err := b.broker.Start(t.Context(), tc.actor, o); !fault.Is(err, tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
	if n := len(b.as.Requests()) + b.mcp.Refused() + b.count(t, "oauth_flows"); n != 0 {
		t.Errorf("%d requests and flows", n)
	}
	if _, err := b.broker.Start(t.Context(), b.admin, connect.StartRequest{Connector: ref(shared.ID)}); err == nil {
		t.Error("a flow is bound to no browser")
	}
}

func TestStart_WithoutChallenge(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{OpenMethods: []string{"initialize", "notifications/initialized", "tools/list"}})
	c := b.protected(t)
	b.start(t, c, nil)
	if got := b.now(t, c).AuthBehaviour; got != connectors.AuthListOpen {
		t.Errorf("auth behaviour %s", got)
	}
}

// The challenge that counts may come as late as at the list.
func TestTheChallengeOfTheListIsRead(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{
		OpenMethods: []string{"initialize", "notifications/initialized"}, Scope: "basic", Scopes: []string{"everything"},
	})
	c := b.protected(t)
	if scope := probeResult(t, b.start(t, c, nil)).Get("scope"); scope != "basic" {
		t.Errorf("scope %q", scope)
	}
	if got := b.now(t, c).AuthBehaviour; got != connectors.AuthAll {
		t.Errorf("auth behaviour %s", got)
	}
}

func TestStart_ScopeOfChallengeWithoutMetadata(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{
		OpenMethods: []string{"initialize"}, Scopes: []string{"everything"},
		Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Basic realm="x", scope="no", Bearer scope="basic"`)
			w.WriteHeader(http.StatusForbidden)
		}),
	})
	if scope := probeResult(t, b.start(t, b.protected(t), nil)).Get("scope"); scope != "basic" {
		t.Errorf("scope %q", scope)
	}
}

// An MCP server that is down or speaks nonsense may still have its documents.
func TestStart_ContinuesWithoutProbe(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"503":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"400":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
		"HTML": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{OpenMethods: []string{"initialize", ""}, Next: answer}) // a GET, too
			c := b.protected(t)
			b.start(t, c, nil)
			if got := b.now(t, c).AuthBehaviour; got != connectors.AuthUnknown {
				t.Errorf("auth behaviour %s", got)
			}
			d, err := b.broker.Diagnose(t.Context(), b.admin, ref(c.ID))
			if err != nil || d.Problem != "" || !strings.Contains(d.Trace[0].Decided, "No MCP response; trying well-known URLs.") {
				t.Errorf("diagnosis = %+v, %v", d, err)
			}
		})
	}
}

func TestStart_ScopePrecedence(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		configured []string
		resource   oauthtest.ResourceBehaviour
		server     []string
		want       string
	}{
		"the admin's":     {[]string{"mine"}, oauthtest.ResourceBehaviour{Scope: "basic", Scopes: []string{"all"}}, nil, "mine"},
		"the challenge's": {nil, oauthtest.ResourceBehaviour{Scope: "basic", Scopes: []string{"all"}}, nil, "basic"},
		"the resource's":  {nil, oauthtest.ResourceBehaviour{Scopes: []string{"all", "more"}}, nil, "all more"},
		"none":            {nil, oauthtest.ResourceBehaviour{}, []string{"server"}, ""},
		"and a refresh":   {nil, oauthtest.ResourceBehaviour{Scope: "basic"}, []string{"offline_access"}, "basic offline_access"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{Scopes: tc.server}, tc.resource)
			s := b.start(t, b.protected(t, func(d *connectors.Draft) { d.OAuth.Scopes = tc.configured }), nil)
			if got := probeResult(t, s); got.Get("scope") != tc.want || got.Has("scope") != (tc.want != "") {
				t.Errorf("scope %q, want %q", got["scope"], tc.want)
			}
		})
	}
}

func TestStart_StepUpUnitesScopes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Scope: "read"})
	c := b.protected(t)
	b.connect(t, c, nil)
	g := b.grant(t, c, nil)
	meta := g.Tokens.Meta
	meta.WantedScopes, meta.StepUps = []string{"read", "write"}, 1
	_, err := b.St.Vault(b.Tenant).RefuseGrant(t.Context(), g.ID, g.Version, meta, "It wants more.", nil)
	must(t, err)
	s := b.start(t, c, nil)
	if got := probeResult(t, s).Get("scope"); got != "read write" {
		t.Errorf("scope %q", got)
	}
	_, err = b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
	must(t, err)
	g = b.grant(t, c, nil)
	if diff := cmp.Diff([]string{"read", "write"}, g.Scopes); diff != "" || g.Tokens.Meta.StepUps != 1 {
		t.Errorf("meta = %+v\n%s", g.Tokens.Meta, diff)
	}
	b.connect(t, c, nil) // by the actor's own choice
	if g = b.grant(t, c, nil); g.Tokens.Meta.StepUps != 0 {
		t.Errorf("%d step-ups", g.Tokens.Meta.StepUps)
	}
}

func TestStart_ClientPrecedence(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b.as.AddClient("by hand", "its secret", nil, baseURL+"/oauth/callback")
	registered := b.protected(t)
	b.connect(t, registered, nil)
	b.connect(t, b.protected(t), nil) // by the same client
	if n := b.as.Count(oauthtest.Register); n != 1 {
		t.Errorf("registered %d times for two connectors", n)
	}
	b.as.Set(func(as *oauthtest.Behaviour) { as.ClientDocuments = true })
	if id := probeResult(t, b.start(t, registered, nil)).Get("client_id"); id != baseURL+"/oauth/client-metadata.json" {
		t.Errorf("client id %s", id)
	}
	own := b.protected(t, func(d *connectors.Draft) { d.OAuth.ClientID = "by hand" })
	must(t, b.Door().Connectors().SetClientSecret(t.Context(), own, "its secret"))
	b.connect(t, own, nil)
	if g := b.grant(t, own, nil); g.Tokens.Meta.ClientID != "by hand" || g.Tokens.Meta.Source != oauth.SourceConfigured {
		t.Errorf("meta = %+v", g.Tokens.Meta)
	}
}

func TestStart_ClientSecretIsBound(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{AuthMethods: []string{"client_secret_post"}}, oauthtest.ResourceBehaviour{})
	b.as.AddClient("by hand", "its secret", nil, baseURL+"/oauth/callback")
	c := b.protected(t, func(d *connectors.Draft) { d.OAuth.ClientID = "by hand" })
	must(t, b.Door().Connectors().SetClientSecret(t.Context(), c, "its secret"))
	b.start(t, c, nil) // neither shown nor bound to another server
	must(t, b.St.Vault(b.Tenant).ClientSecretFits(t.Context(), c, "https://another.example"))
	b.connect(t, c, nil)

	other := oauthtest.Start(t, oauthtest.Behaviour{})
	b.mcp.Set(func(m *oauthtest.ResourceBehaviour) { m.Servers = []string{other.Issuer} })
	d, err := b.broker.Diagnose(t.Context(), b.admin, ref(c.ID))
	if err != nil || !strings.Contains(d.Problem, "client secret is for the authorization server") {
		t.Errorf("problem %q, %v", d.Problem, err)
	}
	_, err = b.broker.Start(t.Context(), b.admin, order(c, nil))
	f := faultOf(t, err, fault.Conflict, "")
	failed, ok := errors.AsType[*connect.StartError](err)
	if !strings.Contains(f.Message, "client secret is for the authorization server") || !ok || failed.Diagnosis.Problem != f.Message || strings.Count(err.Error(), f.Message) != 2 {
		t.Errorf("told %q, %v", f.Message, failed)
	}
	for _, r := range other.Requests() {
		if strings.Contains(r.Body+r.Query.Encode(), "secret") {
			t.Errorf("sent %s %s", r.Path, r.Body)
		}
	}
}

func TestStart_NeedsClientID(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{NoRegistration: true}, oauthtest.ResourceBehaviour{})
	_, err := b.broker.Start(t.Context(), b.admin, order(b.protected(t), nil))
	f := faultOf(t, err, fault.Conflict, "client_id_needed")
	if !strings.Contains(f.Message, "under Advanced") || !strings.Contains(f.Message, baseURL+"/oauth/callback") {
		t.Errorf("told %q", f.Message)
	}
	failed, ok := errors.AsType[*connect.StartError](err)
	if !ok || failed.Diagnosis.Server == nil || len(failed.Diagnosis.Trace) < 3 || failed.Diagnosis.Problem != f.Message {
		t.Errorf("failed = %+v", failed)
	}
}

// The other replica is as fast, and its client stands in the table when ours comes back: it is the one that both use.
func TestRegister_ConcurrentReplicas(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		err := b.Door().Accounts().SaveRegistration(context.WithoutCancel(t.Context()), b.broker.RedirectURI(), oauth.Registration{
			Issuer: b.as.Issuer, ClientID: "the other's", Source: oauth.SourceDynamic,
		})
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(`{"client_id":"ours"}`))
	}))
	t.Cleanup(endpoint.Close)
	b.as.Set(func(as *oauthtest.Behaviour) {
		as.Edit = func(d oauthtest.Document) { d["registration_endpoint"] = endpoint.URL }
	})
	if id := probeResult(t, b.start(t, b.protected(t), nil)).Get("client_id"); id != "the other's" {
		t.Errorf("client id %q", id)
	}
}

// One client serves all connectors of an issuer, so that it is registered for what any of them may ask for.
func TestRegister_AllListedScopes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{Scopes: []string{"read", "write"}}, oauthtest.ResourceBehaviour{Scope: "read"})
	b.start(t, b.protected(t), nil)
	if body := b.as.Requests(oauthtest.Register)[0].Body; !strings.Contains(body, `"scope":"read write"`) {
		t.Errorf("registered as %s", body)
	}
}

// One policy about scopes and one about strangers look the same from outside.
func TestRegister_RetriesWithoutScopes(t *testing.T) {
	t.Parallel()
	var refused atomic.Int32
	strict := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, err := io.ReadAll(r.Body); err != nil || strings.Contains(string(text), `"scope"`) {
			refused.Add(1)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"client_id":"plain"}`))
	}))
	t.Cleanup(strict.Close)
	b := newBundle(t, oauthtest.Behaviour{Edit: func(d oauthtest.Document) { d["registration_endpoint"] = strict.URL }}, oauthtest.ResourceBehaviour{Scope: "read"})
	s := b.start(t, b.protected(t), nil)
	if id := probeResult(t, s).Get("client_id"); id != "plain" || refused.Load() != 1 {
		t.Errorf("client %q after %d refusals", id, refused.Load())
	}
}

func TestManyStartsAtOnceUseOneRegistration(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"sub": "7"}}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	all := []*connect.Broker{b.broker, b.replica(t), b.replica(t)}
	starts := make([]connect.Authorization, 12)
	var group errgroup.Group
	for i := range starts {
		group.Go(func() (err error) {
			starts[i], err = all[i%len(all)].Start(t.Context(), b.admin, order(c, nil))
			return err
		})
	}
	must(t, group.Wait())
	if n := b.as.Count(oauthtest.Register); n > len(all) {
		t.Errorf("%d processes registered %d times", len(all), n)
	}
	for _, s := range starts { // whichever client a flow has, it comes to its end
		done, err := b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
		must(t, err)
		if done.Restarted != nil {
			_, err = b.broker.Finish(t.Context(), b.agree(t, *done.Restarted), b.browser())
			must(t, err)
		}
	}
	client, err := b.St.Vault(b.Tenant).Registration(t.Context(), b.as.Issuer, baseURL+"/oauth/callback")
	if g := b.grant(t, c, nil); err != nil || g.Tokens.Meta.ClientID != client.ClientID {
		t.Errorf("the grant's client is %s, ours is %s, %v", g.Tokens.Meta.ClientID, client.ClientID, err)
	}
}

func TestOverridesAreWhatTheAdminSays(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{RefuseResource: true, NoPKCE: true}, oauthtest.ResourceBehaviour{Metadata: oauthtest.NoMetadata, Challenge: oauthtest.NotBearer})
	c := b.protected(t, func(d *connectors.Draft) {
		none := ""
		d.OAuth = connectors.OAuthSettings{Issuer: b.as.Issuer, Resource: &none, AllowMissingPKCEMetadata: true, TokenEndpointAuthMethod: "client_secret_post"}
	})
	b.connect(t, c, nil)
	sent := b.as.Requests(oauthtest.Exchange)[0]
	if sent.Form.Has("resource") || !sent.Form.Has("client_secret") {
		t.Errorf("sent %v", sent.Form)
	}
}

func TestAFailedStartTellsHowFarItCame(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		as   oauthtest.Behaviour
		code string
		step oauth.Step
	}{
		"no metadata":  {oauthtest.Behaviour{WellKnown: oauthtest.AsHTML}, "protocol", oauth.StepServer},
		"503":          {oauthtest.Behaviour{WellKnown: oauthtest.Failing}, "http_status", oauth.StepServer},
		"other issuer": {oauthtest.Behaviour{DocumentIssuer: "https://other.example"}, "refused", oauth.StepServer},
		"no PKCE":      {oauthtest.Behaviour{NoPKCE: true}, "refused", oauth.StepServer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, tc.as, oauthtest.ResourceBehaviour{})
			_, err := b.broker.Start(t.Context(), b.admin, order(b.protected(t), nil))
			f := faultOf(t, err, fault.Upstream, tc.code)
			if f.Remote == nil || f.Remote.Phase != "auth" {
				t.Errorf("remote = %+v", f.Remote)
			}
			failed, ok := errors.AsType[*connect.StartError](err)
			if !ok || failed.Diagnosis.Problem != f.Message || failed.Diagnosis.Trace[0].Step != connect.StepProbe {
				t.Fatalf("failed = %+v", failed)
			}
			if last := failed.Diagnosis.Trace[len(failed.Diagnosis.Trace)-1]; last.Step != tc.step {
				t.Errorf("last step %+v", last)
			}
			if n := b.count(t, "oauth_flows"); n != 0 {
				t.Errorf("%d flows", n)
			}
		})
	}
}

func TestReturnToIsAPathOfOursOrNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	for to, want := range map[string]string{
		"/connectors?q=a": "/connectors?q=a", "": "", "//evil.example": "", `/\evil.example`: "", "https://evil.example": "",
		"javascript:alert(1)": "", "/\tevil": "", "connectors": "", "/..//evil.example/": "/..//evil.example/",
	} {
		o := order(c, nil)
		o.ReturnTo = to
		s, err := b.broker.Start(t.Context(), b.admin, o)
		must(t, err)
		var stored string
		must(t, b.owner(t).QueryRow(t.Context(), "select return_to from oauth_flows").Scan(&stored))
		done, err := b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
		must(t, err)
		if done.ReturnTo != want || stored != want {
			t.Errorf("%q leads to %q", to, done.ReturnTo)
		}
	}
	// What got into the row some other way leads nowhere, too.
	s := b.start(t, c, nil)
	_, err := b.owner(t).Exec(t.Context(), "update oauth_flows set return_to = '//evil.example'")
	must(t, err)
	done, err := b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
	if err != nil || done.ReturnTo != "" {
		t.Errorf("leads to %q, %v", done.ReturnTo, err)
	}
}
