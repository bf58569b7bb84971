package connect_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
)

const cookie = secret.Text("cookie:of the owner")

// link makes a link, and returns its token.
func (b *bundle) link(t testing.TB, c connectors.Connector, agent *connectors.Ref, returnTo string) secret.Text {
	t.Helper()
	l, err := b.broker.Link(t.Context(), b.person(t, b.Tenant, connectors.RoleMember), ref(c.ID), agent, returnTo)
	must(t, err)
	token, ok := strings.CutPrefix(l.URL, baseURL+"/connect/")
	if life := time.Until(l.ExpiresAt); !ok || len(token) != 43 || life < 23*time.Hour || life > 24*time.Hour {
		t.Fatalf("link = %+v", l)
	}
	return secret.Text(token)
}

func TestALinkConnectsTheAccountOfWhoeverHasIt(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Scope: "read"})
	c, agent := b.protected(t, perAgent), b.Agent(t)
	token := b.link(t, c, agentRef(agent), "/agents")
	for range 2 { // looking is not taking
		i, err := b.broker.ReadLink(t.Context(), token)
		must(t, err)
		want := connect.LinkPage{
			Tenant: "Acme", Connector: c.Name, CredentialURL: c.URL, Agent: agent.Name, Server: "127.0.0.1", AuthorizeOrigin: b.as.Origin(), Scopes: []string{"read"},
		}
		if diff := cmp.Diff(want, i, cmpopts.IgnoreFields(i, "MadeBy", "ExpiresAt")); diff != "" || i.MadeBy == "" || i.ExpiresAt.IsZero() {
			t.Error(diff, i)
		}
	}
	if n := b.as.Count(oauthtest.Register) + b.count(t, "oauth_flows"); n != 0 || b.now(t, c).AuthBehaviour != connectors.AuthUnknown {
		t.Errorf("looking left %d traces", n)
	}
	s, err := b.broker.AcceptLink(t.Context(), token, cookie)
	must(t, err)
	done, err := b.broker.Finish(t.Context(), b.agree(t, s), connect.BrowserBindings{Cookie: cookie})
	if err != nil || !done.ByLink || done.ReturnTo != "/agents" || done.Agent.ID != agent.ID || done.Run == nil {
		t.Fatalf("finished = %+v, %v", done, err)
	}
	b.grant(t, c, &agent.ID)
	if actor, _ := b.event(t, "credential.connect"); !strings.HasPrefix(actor, "link person-") {
		t.Errorf("event by %s", actor)
	}
}

func TestALinkWorksOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	token := b.link(t, b.protected(t), nil, "")
	results := make(chan error, 4)
	brokers := []*connect.Broker{b.broker, b.replica(t)}
	for i := range cap(results) {
		go func() {
			_, err := brokers[i%2].AcceptLink(t.Context(), token, cookie)
			results <- err
		}()
	}
	taken := 0
	for range cap(results) {
		if err := <-results; err == nil {
			taken++
		} else {
			wantFault(t, err, fault.NotFound, "")
		}
	}
	if n := b.count(t, "oauth_flows"); taken != 1 || n != 1 {
		t.Errorf("taken %d times, %d flows", taken, n)
	}
	_, err := b.broker.ReadLink(t.Context(), token)
	if f := faultOf(t, err, fault.NotFound, ""); f.Message != "Link used or expired. Ask for a new one." {
		t.Errorf("told %q", f.Message)
	}
}

func TestALinkThatIsOverOrUnknownIsNotFound(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t, perAgent)
	agent := b.Agent(t)
	expired, orphan := b.link(t, c, agentRef(b.Agent(t)), ""), b.link(t, c, agentRef(agent), "")
	must(t, b.Door().Agents().Delete(t.Context(), agent.ID))
	_, err := b.owner(t).Exec(t.Context(), "update connect_links set expires_at = now()")
	must(t, err)
	for _, token := range []secret.Text{expired, orphan, "unknown", ""} {
		_, err := b.broker.ReadLink(t.Context(), token)
		wantFault(t, err, fault.NotFound, "")
		_, err = b.broker.AcceptLink(t.Context(), token, cookie)
		wantFault(t, err, fault.NotFound, "")
	}
}

func TestAServerThatIsDownDoesNotUseTheLinkUp(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{WellKnown: oauthtest.Failing}, oauthtest.ResourceBehaviour{})
	token := b.link(t, b.protected(t), nil, "")
	i, err := b.broker.ReadLink(t.Context(), token)
	if err != nil || i.Problem == "" || i.Server != "" {
		t.Errorf("invitation = %+v, %v", i, err)
	}
	_, err = b.broker.AcceptLink(t.Context(), token, cookie)
	wantFault(t, err, fault.Upstream, "http_status")
	b.as.Set(func(as *oauthtest.Behaviour) {
		as.WellKnown, as.RegistrationStatus = oauthtest.AtOAuth, http.StatusInternalServerError
	})
	_, err = b.broker.AcceptLink(t.Context(), token, cookie)
	wantFault(t, err, fault.Upstream, "http_status")
	b.as.Set(func(as *oauthtest.Behaviour) { as.RegistrationStatus = 0 })
	_, err = b.broker.AcceptLink(t.Context(), token, cookie)
	must(t, err)
}

func TestOpen_ReportsProblem(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]oauthtest.Behaviour{"no client": {NoRegistration: true}, "no PKCE": {NoPKCE: true}} {
		b := newBundle(t, as, oauthtest.ResourceBehaviour{})
		i, err := b.broker.ReadLink(t.Context(), b.link(t, b.protected(t), nil, ""))
		if err != nil || i.Problem == "" {
			t.Errorf("%s: invitation = %+v, %v", name, i, err)
		}
	}
}

func TestALinkIsBoundToTheBrowserThatTakesIt(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	for _, br := range []connect.BrowserBindings{{}, {Cookie: "cookie:of somebody"}, b.browser(), {Session: connect.SessionBinding("of the owner")}} {
		s, err := b.broker.AcceptLink(t.Context(), b.link(t, c, nil, ""), cookie)
		must(t, err)
		_, err = b.broker.Finish(t.Context(), b.agree(t, s), br)
		wantFault(t, err, fault.Malformed, "")
	}
	b.wantNothing(t, c)
	if _, err := b.broker.AcceptLink(t.Context(), b.link(t, c, nil, ""), ""); err == nil {
		t.Error("a link is bound to no browser")
	}
}

func TestMembersMakeLinksWhereAnAccountBelongs(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c, own := b.protected(t), b.protected(t, perAgent)
	bearer := b.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	member := b.person(t, b.Tenant, connectors.RoleMember)
	_, err := b.broker.Link(t.Context(), b.person(t, b.Tenant, connectors.RoleViewer), ref(c.ID), nil, "")
	wantFault(t, err, fault.Denied, "")
	_, err = b.broker.Link(t.Context(), b.person(t, b.Other, connectors.RoleOwner), ref(c.ID), nil, "")
	wantFault(t, err, fault.NotFound, "")
	for _, id := range []connectors.ConnectorID{bearer.ID, own.ID} {
		_, err = b.broker.Link(t.Context(), member, ref(id), nil, "")
		wantFault(t, err, fault.Conflict, "")
	}
	token := b.link(t, c, nil, "//evil.example")
	s, err := b.broker.AcceptLink(t.Context(), token, cookie)
	must(t, err)
	done, err := b.broker.Finish(t.Context(), b.agree(t, s), connect.BrowserBindings{Cookie: cookie})
	if err != nil || done.ReturnTo != "" {
		t.Errorf("leads to %q, %v", done.ReturnTo, err)
	}
}

// The first link waits for its server while the account is replaced.
func TestALinkSharesNoAnswerWithAnotherAccounts(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	var holds atomic.Bool
	asked, release := make(chan struct{}), make(chan struct{})
	answerFirst := sync.OnceFunc(func() { close(release) })
	defer answerFirst()
	var front *httptest.Server
	front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if holds.CompareAndSwap(true, false) {
			close(asked)
			<-release
		}
		if strings.HasPrefix(r.URL.Path, "/.well-known/") {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"resource":"%s/mcp","authorization_servers":["%s"]}`, front.URL, b.as.Issuer)
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+front.URL+`/.well-known/oauth-protected-resource/mcp"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(front.Close)
	c := b.protected(t, func(d *connectors.Draft) { d.URL = front.URL + "/mcp" })
	b.connect(t, c, nil)
	accept := func(token secret.Text) chan connect.Authorization {
		accepted := make(chan connect.Authorization, 1)
		go func() {
			s, err := b.broker.AcceptLink(t.Context(), token, cookie)
			if err != nil {
				t.Error(err)
			}
			accepted <- s
		}()
		return accepted
	}
	holds.Store(true)
	first := accept(b.linkBy(t, b.admin, c))
	select {
	case <-asked:
	case <-first:
		t.Fatal("the link did not ask its server")
	}
	must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""))
	b.connect(t, c, nil)
	second := accept(b.linkBy(t, b.admin, c))
	select {
	case s := <-second:
		_, err := b.broker.Finish(t.Context(), b.agree(t, s), connect.BrowserBindings{Cookie: cookie})
		must(t, err)
	case <-time.After(10 * time.Second):
		t.Error("the link waits for the survey of another account's")
	}
	answerFirst()
	<-first
}
