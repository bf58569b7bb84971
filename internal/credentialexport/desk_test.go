package credentialexport_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentialexport"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// handoverTest is a world with an authorization server.
type handoverTest struct {
	*fixture.World
	as    *oauthtest.Server
	agent connectors.Agent
}

func newHandoverTest(t *testing.T, as oauthtest.Behaviour) *handoverTest {
	t.Helper()
	w := fixture.New(t)
	return &handoverTest{World: w, as: oauthtest.Start(t, as), agent: w.Agent(t)}
}

func (b *handoverTest) desk(within time.Duration) *credentialexport.Desk {
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	return credentialexport.New(credentialexport.Options{
		Store: b.St, Within: within, Credentials: credentials.NewRefreshing(credentials.Options{
			Store: b.St, OAuth: &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL},
		}),
	})
}

func (b *handoverTest) open(t *testing.T, d *credentialexport.Desk) map[string]credentialexport.Server {
	t.Helper()
	self, err := b.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.Open(t.Context(), auth.Operator(self), connectors.Ref(b.agent.Slug))
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]credentialexport.Server{}
	for _, s := range all.Servers {
		servers[s.Connector.Slug] = s
	}
	return servers
}

// addGranted adds a connector granted to the agent.
func (b *handoverTest) addGranted(t *testing.T, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	c := b.Connector(t, opts...)
	b.Grant(t, b.agent.ID, c.ID, fixture.Named("search"))
	return c
}

// addDue adds a connector with an expired access token and a refresh token that the server does not know.
func (b *handoverTest) addDue(t *testing.T, tokenEndpoint string) connectors.Connector {
	t.Helper()
	c := b.addGranted(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 })
	over := time.Now().Add(-time.Minute)
	err := b.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: c.ID, Origin: connectors.Origin(c.URL), GrantTokens: store.GrantTokens{
			AccessToken: "old", RefreshToken: secret.Text("refresh-" + c.Slug), ExpiresAt: &over, Meta: store.GrantMeta{
				Server:   oauth.Metadata{Issuer: b.as.Issuer, TokenEndpoint: tokenEndpoint},
				ClientID: "client-1",
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOpen_LateCredentialDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := newHandoverTest(t, oauthtest.Behaviour{Token: oauthtest.Hang})
	late, here := b.addDue(t, b.as.Issuer+"/token"), b.addGranted(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	s, err := connectors.Secret{Token: "t-1"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b.Credential(t, here.ID, nil, s)
	servers := b.open(t, b.desk(5*time.Second))
	if f := servers[late.Slug].Fault; f == nil || f.Code != "timeout" || f.Kind != fault.Unavailable {
		t.Errorf("late: %v", f)
	}
	if got := servers[here.Slug]; got.Fault != nil || len(got.Headers) != 1 || got.Headers[0].Value != "Bearer t-1" {
		t.Errorf("here: %+v", got)
	}
}

func TestOpen_ReadsEightConcurrently(t *testing.T) {
	t.Parallel()
	const atOnce = 8
	b := newHandoverTest(t, oauthtest.Behaviour{})
	var mu sync.Mutex
	var now, most int // guarded by mu
	full := make(chan struct{})
	come := func(by int) {
		mu.Lock()
		defer mu.Unlock()
		now += by
		if now == atOnce && most < atOnce {
			close(full)
		}
		most = max(most, now)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		come(1)
		defer come(-1)
		select { // answers only after eight requests
		case <-full:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(server.Close)
	for range 2 * atOnce {
		b.addDue(t, server.URL)
	}
	b.open(t, b.desk(0))
	if most != atOnce {
		t.Errorf("%d requests at once", most)
	}
}

func TestOpen_ReportsADeadAccount(t *testing.T) {
	t.Parallel()
	b := newHandoverTest(t, oauthtest.Behaviour{})
	dead, open := b.addDue(t, b.as.Issuer+"/token"), b.addGranted(t)
	servers := b.open(t, b.desk(0))
	if f := servers[dead.Slug].Fault; f == nil || f.Type != "credential-required" {
		t.Errorf("dead: %v", f)
	}
	if got := servers[open.Slug]; got.Fault != nil || len(got.Headers) != 0 {
		t.Errorf("open: %+v", got)
	}
}

func TestOpen_OmitsUngrantedConnectors(t *testing.T) {
	t.Parallel()
	b := newHandoverTest(t, oauthtest.Behaviour{})
	granted, disabled := b.addGranted(t), b.addGranted(t, func(d *connectors.Draft) { d.Enabled = false })
	other, another := b.Connector(t), b.Agent(t)
	b.Grant(t, another.ID, other.ID)
	servers := b.open(t, b.desk(0))
	if _, there := servers[granted.Slug]; !there || len(servers) != 1 {
		t.Errorf("handed out: %v; %q is disabled, and %q another agent's", slices.Collect(maps.Keys(servers)), disabled.Slug, other.Slug)
	}
}

// The URL of an HTTP API is its document's: no MCP client may send the credential there.
func TestOpen_KeepsTheCredentialOfAnHTTPAPI(t *testing.T) {
	t.Parallel()
	b := newHandoverTest(t, oauthtest.Behaviour{})
	c := b.addGranted(t, func(d *connectors.Draft) { d.Transport, d.Auth.Type = connectors.TransportAPI, connectors.AuthBearer })
	b.Credential(t, c.ID, nil, "hush")
	got := b.open(t, b.desk(0))[c.Slug]
	if f := fault.As(got.Fault); got.Fault == nil || f.Code != "http_api" || len(got.Headers) > 0 {
		t.Errorf("handed out: %+v", got)
	}
}

func TestOpen_KeepsTokensThatAreBoundToAKey(t *testing.T) {
	t.Parallel()
	b := newHandoverTest(t, oauthtest.Behaviour{})
	c := b.addGranted(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 })
	key, err := oauth.NewProofKey()
	if err != nil {
		t.Fatal(err)
	}
	ends := time.Now().Add(time.Hour)
	if err := b.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: c.ID, Origin: connectors.Origin(c.URL),
		GrantTokens: store.GrantTokens{AccessToken: "bound", ProofKey: secret.Text(key.Encode().Reveal()), Bound: true, ExpiresAt: &ends},
	}); err != nil {
		t.Fatal(err)
	}
	s := b.open(t, b.desk(time.Minute))[c.Slug]
	if s.Fault == nil || s.Fault.Code != "bound_token" || len(s.Headers) != 0 {
		t.Errorf("%v with %d headers", s.Fault, len(s.Headers))
	}
}

func TestOpen_RequiresAnAdmin(t *testing.T) {
	t.Parallel()
	b := newHandoverTest(t, oauthtest.Behaviour{})
	b.addGranted(t)
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleMember, ""} {
		a := auth.Actor{Kind: auth.KindPerson, Tenant: connectors.Tenant{ID: b.Tenant}, Role: role}
		if _, err := b.desk(0).Open(t.Context(), a, connectors.Ref(b.agent.Slug)); !fault.Is(err, fault.Denied) {
			t.Errorf("%q: %v", role, err)
		}
	}
}

func TestOpen_EndedAndTemporaryGrantsHaveNoCredential(t *testing.T) {
	t.Parallel()
	b := newHandoverTest(t, oauthtest.Behaviour{})
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	add := func(ends *connectors.GrantEnds) connectors.Connector {
		c := b.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 })
		if err := b.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
			ConnectorID: c.ID, Origin: connectors.Origin(c.URL), GrantTokens: store.GrantTokens{AccessToken: "hush", ExpiresAt: &future},
		}); err != nil {
			t.Fatal(err)
		}
		b.Grant(t, b.agent.ID, c.ID, fixture.Named("search"), func(g *connectors.Grant) { g.Ends = ends })
		return c
	}
	permanent, ended := add(nil), add(&connectors.GrantEnds{Until: &past})
	temporary := []connectors.Connector{
		add(&connectors.GrantEnds{Until: &future}), add(&connectors.GrantEnds{Tools: map[string]*time.Time{"delete": &future}}),
	}
	got := b.open(t, b.desk(0))
	if _, listed := got[ended.Slug]; listed || len(got[permanent.Slug].Headers) != 1 {
		t.Errorf("the ended one is listed: %v; the permanent one has %+v (%v)", listed, got[permanent.Slug].Headers, got[permanent.Slug].Fault)
	}
	for _, c := range temporary {
		if s := got[c.Slug]; s.Fault == nil || s.Fault.Code != "temporary_grant" || len(s.Headers) != 0 {
			t.Errorf("a temporary grant: %+v", s)
		}
	}
}

func TestOpen_RefusesAnAccountThatAnotherReplaced(t *testing.T) {
	t.Parallel()
	for _, account := range []string{"", "work"} {
		b := newHandoverTest(t, oauthtest.Behaviour{})
		c := b.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
		b.Grant(t, b.agent.ID, c.ID, func(g *connectors.Grant) {
			if account != "" {
				g.Accounts = []string{account}
			}
		})
		save := func(token string) {
			text, err := connectors.Secret{Token: secret.Text(token)}.Encode()
			must(t, err)
			must(t, b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
				ConnectorID: c.ID, Name: account, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: text,
			}))
		}
		save("former")
		self, err := b.Door().Self(t.Context())
		must(t, err)
		replace := func() {
			must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, account))
			save("other")
		}
		wait := func() {}
		b.BeforeQuery(t, "SealedCredentials", func() { wait = b.BeforeQuery(t, "AgentByRef", replace) }) // of the check after the read
		_, err = b.desk(0).Open(t.Context(), auth.Operator(self), connectors.Ref(b.agent.Slug))
		wait()
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("account %q: %v", account, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
