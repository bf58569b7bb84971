package store_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

const (
	issuer      = "https://as.example.com"
	redirectURI = "https://patchbay.example.com/oauth/callback"
)

func newFlow(c connectors.Connector, serial byte) store.NewFlow {
	return store.NewFlow{
		StateHash: bytes.Repeat([]byte{serial}, 32), BrowserHash: []byte("browser"), ConnectorID: c.ID, StartedBy: store.Starter{Type: "system", Name: "x"},
		Origin: connectors.Origin(c.URL), Server: oauth.Metadata{Issuer: issuer}, ClientID: "client", Scopes: []string{"read"},
		RedirectURI: redirectURI, ReturnTo: "/connectors", Verifier: "the verifier",
	}
}

func newLink(c connectors.Connector, serial byte) store.NewConnectLink {
	return store.NewConnectLink{TokenHash: bytes.Repeat([]byte{serial}, 32), ConnectorID: c.ID, ExpiresAt: time.Now().Add(time.Hour).UTC().Truncate(time.Second)}
}

func newGrant(c connectors.Connector) store.NewGrant {
	return store.NewGrant{
		ConnectorID: c.ID, Origin: connectors.Origin(c.URL), Account: "ann@example.com",
		GrantTokens: store.GrantTokens{
			AccessToken: "access", RefreshToken: "refresh", Scopes: []string{"read"},
			Meta: store.GrantMeta{Server: oauth.Metadata{Issuer: issuer}, ClientID: "client", Resource: c.URL},
		},
	}
}

func registration() oauth.Registration {
	return oauth.Registration{
		Issuer: issuer, ClientID: "client", ClientSecret: "client's secret", Method: oauth.AuthBasic, Source: oauth.SourceDynamic,
	}
}

// fillOAuth gives the victim a row of every kind that connecting leaves.
func (o *outsider) fillOAuth(t *testing.T, c connectors.Connector) {
	t.Helper()
	door, vault := o.Door(), o.St.Vault(o.Tenant)
	o.withClient, o.program = withClient(t, o.World), o.Connector(t, program)
	for _, err := range []error{
		door.Accounts().SaveRegistration(t.Context(), redirectURI, registration()),
		door.Accounts().SaveGrant(t.Context(), newGrant(c)),
		door.Accounts().SaveFlow(t.Context(), newFlow(c, 1)),
		door.Accounts().SaveFlow(t.Context(), newFlow(c, 2)),
		door.Accounts().SaveConnectLink(t.Context(), newLink(c, 1)),
		door.Connectors().SetClientSecret(t.Context(), o.withClient, "the admin's secret"),
		door.Connectors().SetEnvironment(t.Context(), o.program, connectors.Environment{"TOKEN": "theirs"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if o.flow, err = o.St.System().Sessions().TakeFlow(t.Context(), bytes.Repeat([]byte{2}, 32)); err != nil {
		t.Fatal(err)
	}
	if o.grant, err = vault.Grant(t.Context(), c.ID, nil); err != nil {
		t.Fatal(err)
	}
	var ok bool
	if o.lease, ok, err = vault.LeaseGrant(t.Context(), o.grant, time.Minute); !ok || err != nil {
		t.Fatal(ok, err)
	}
}

func TestAFlowIsTakenOnce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	want := newFlow(w.Connector(t), 1)
	if err := w.Door().Accounts().SaveFlow(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	f, err := w.St.System().Sessions().TakeFlow(t.Context(), want.StateHash)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := w.St.Vault(f.Tenant).Verifier(f)
	if err != nil || verifier.Reveal() != "the verifier" || f.Tenant != w.Tenant {
		t.Errorf("verifier: %v", err)
	}
	if life := f.ExpiresAt.Sub(f.CreatedAt); life != 10*time.Minute {
		t.Errorf("lives %s", life)
	}
	want.Verifier = ""
	if diff := cmp.Diff(want, f.NewFlow); diff != "" {
		t.Error(diff)
	}
	_, err = w.St.System().Sessions().TakeFlow(t.Context(), want.StateHash)
	wantKind(t, err, fault.NotFound)
}

func TestTakeConnectLink_OnceBeforeExpiry(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	live, dead := newLink(w.Connector(t), 1), newLink(w.Connector(t), 2)
	dead.ExpiresAt = time.Now().Add(-time.Second)
	for _, l := range []store.NewConnectLink{live, dead} {
		if err := w.Door().Accounts().SaveConnectLink(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	sys := w.St.System()
	for range 2 { // looking is not taking
		if l, err := sys.Sessions().ConnectLink(t.Context(), live.TokenHash); err != nil || l.Tenant != w.Tenant || !l.ExpiresAt.Equal(live.ExpiresAt) {
			t.Errorf("link = %+v, %v", l, err)
		}
	}
	if _, err := sys.Sessions().TakeConnectLink(t.Context(), live.TokenHash); err != nil {
		t.Error(err)
	}
	for _, hash := range [][]byte{live.TokenHash, dead.TokenHash} {
		_, err := sys.Sessions().TakeConnectLink(t.Context(), hash)
		wantKind(t, err, fault.NotFound)
	}
}

func TestSaveConnectLink_KeepsNewestTwenty(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, other, agent := w.Connector(t), w.Connector(t), w.Agent(t)
	id, sys := uuid.New(), w.St.System()
	var serial byte
	save := func(c connectors.Connector, change func(*store.NewConnectLink)) []byte {
		serial++
		l := newLink(c, serial)
		l.MadeBy = store.Starter{Type: "key", ID: &id, Name: "robot"}
		change(&l)
		if err := w.Door().Accounts().SaveConnectLink(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		return l.TokenHash
	}
	others := [][]byte{
		save(other, func(*store.NewConnectLink) {}),
		save(c, func(l *store.NewConnectLink) { l.AgentID = &agent.ID }),
		save(c, func(l *store.NewConnectLink) { l.MadeBy.ID = nil }),
		save(c, func(l *store.NewConnectLink) { l.MadeBy.Type = "person" }),
	}
	var mine [][]byte
	for i := range 25 {
		mine = append(mine, save(c, func(l *store.NewConnectLink) { l.MadeBy.Name = fmt.Sprintf("robot, renamed %d times", i) }))
	}
	for i, hash := range mine {
		if _, err := sys.Sessions().ConnectLink(t.Context(), hash); (err == nil) != (i >= 5) {
			t.Errorf("link %d: %v", i+1, err)
		}
	}
	for i, hash := range others {
		if _, err := sys.Sessions().ConnectLink(t.Context(), hash); err != nil {
			t.Errorf("another's link %d: %v", i+1, err)
		}
	}
}

func TestRegistration_OnePerIssuer(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	door, vault := w.Door(), w.St.Vault(w.Tenant)
	if err := door.Accounts().SaveRegistration(t.Context(), redirectURI, registration()); err != nil {
		t.Fatal(err)
	}
	r, err := vault.Registration(t.Context(), issuer, redirectURI)
	if err != nil || r != registration() {
		t.Errorf("registration: %+v, %v", r, err)
	}
	_, err = vault.Registration(t.Context(), "https://other.example.com", redirectURI)
	wantKind(t, err, fault.NotFound)
	late := registration()
	late.ClientID = "another replica's"
	if err := door.Accounts().SaveRegistration(t.Context(), redirectURI, late); err != nil {
		t.Fatal(err)
	}
	if r, err = vault.Registration(t.Context(), issuer, redirectURI); err != nil || r.ClientID != "client" {
		t.Errorf("a living one was replaced: %s, %v", r.ClientID, err)
	}
	if err := door.Accounts().DeleteRegistration(t.Context(), issuer, redirectURI, "an older one"); err != nil {
		t.Fatal(err)
	}
	if _, err := vault.Registration(t.Context(), issuer, redirectURI); err != nil {
		t.Errorf("a newer one was forgotten: %v", err)
	}
	if err := door.Accounts().DeleteRegistration(t.Context(), issuer, redirectURI, "client"); err != nil {
		t.Fatal(err)
	}
	_, err = vault.Registration(t.Context(), issuer, redirectURI)
	wantKind(t, err, fault.NotFound)
	for _, r := range []oauth.Registration{{SecretExpiresAt: time.Now().Add(-time.Minute), ClientID: "ended"}, {ClientID: "next"}} {
		r.Issuer, r.Source = issuer, oauth.SourceDynamic
		if err := door.Accounts().SaveRegistration(t.Context(), redirectURI, r); err != nil {
			t.Fatal(err)
		}
	}
	if r, err = vault.Registration(t.Context(), issuer, redirectURI); err != nil || r.ClientID != "next" {
		t.Errorf("an ended one was not replaced: %s, %v", r.ClientID, err)
	}
}

func TestOneLeaseAtATimeAndOnlyItsHolderWrites(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, vault := w.Connector(t), w.St.Vault(w.Tenant)
	if err := w.Door().Accounts().SaveGrant(t.Context(), newGrant(c)); err != nil {
		t.Fatal(err)
	}
	g, err := vault.Grant(t.Context(), c.ID, nil)
	if err != nil || g.Tokens.RefreshToken.Reveal() != "refresh" {
		t.Fatalf("grant: %v", err)
	}
	dead, ok, err := vault.LeaseGrant(t.Context(), g, -time.Second) // its holder died
	wantTrue(t, "first lease", ok, err)
	mine, ok, err := vault.LeaseGrant(t.Context(), g, time.Minute)
	wantTrue(t, "lease after it", ok, err)
	if dead.Lost || !mine.Lost {
		t.Errorf("lost: %v, then %v: nobody knows what came of the dead one's request", dead.Lost, mine.Lost)
	}
	if _, ok, err := vault.LeaseGrant(t.Context(), g, time.Minute); ok || err != nil {
		t.Errorf("a second lease: %v, %v", ok, err)
	}
	fresh := g.Tokens
	fresh.AccessToken = "fresh"
	if ok, err := vault.SaveRefreshed(t.Context(), dead, g, fresh); ok || err != nil {
		t.Errorf("the dead one writes: %v, %v", ok, err)
	}
	ok, err = vault.SaveRefreshed(t.Context(), mine, g, fresh)
	wantTrue(t, "save", ok, err)
	if ok, err := vault.EndGrant(t.Context(), mine, "Late.", nil); ok || err != nil {
		t.Errorf("a late end: %v, %v", ok, err)
	}
	now, err := vault.Grant(t.Context(), c.ID, nil)
	if err != nil || now.Version != g.Version+1 || now.Tokens.AccessToken.Reveal() != "fresh" || now.Status != connectors.CredentialActive {
		t.Errorf("grant = %+v, %v", now.Credential, err)
	}
}

func TestAFailedRefreshWaitsAndKeepsTheGrant(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, vault := w.Connector(t), w.St.Vault(w.Tenant)
	if err := w.Door().Accounts().SaveGrant(t.Context(), newGrant(c)); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		wait   time.Duration
		leased bool
		status connectors.CredentialStatus
	}{{-time.Second, true, connectors.CredentialRefreshFailed}, {time.Hour, true, connectors.CredentialRefreshFailed}, {0, false, connectors.CredentialRefreshFailed}} {
		g, err := vault.Grant(t.Context(), c.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		l, ok, err := vault.LeaseGrant(t.Context(), g, time.Minute)
		if ok != step.leased || err != nil {
			t.Fatalf("lease: %v, %v", ok, err)
		}
		if ok {
			done, err := vault.DelayRefresh(t.Context(), l, store.Delay{Because: "It did not answer.", Wait: step.wait})
			wantTrue(t, "delay", done, err)
		}
		if g, err = vault.Grant(t.Context(), c.ID, nil); err != nil || g.Status != step.status || g.Version != 1 {
			t.Errorf("grant = %+v, %v", g.Credential, err)
		}
	}
}

func wantTrue(t *testing.T, what string, ok bool, err error) {
	t.Helper()
	if !ok || err != nil {
		t.Fatalf("%s: %v, %v", what, ok, err)
	}
}

// withClient is a connector with a client that an admin registered by hand.
func withClient(t *testing.T, w *fixture.World) connectors.Connector {
	t.Helper()
	return w.Connector(t, func(d *connectors.Draft) { d.Auth.Type, d.OAuth.ClientID = connectors.AuthOAuth2, "by-hand" })
}

func TestClientSecret_IsBoundToFirstIssuer(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, vault := withClient(t, w), w.St.Vault(w.Tenant)
	if err := w.Door().Connectors().SetClientSecret(t.Context(), c, "s3cret"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s, err := vault.ClientSecret(t.Context(), c, issuer); err != nil || s.Reveal() != "s3cret" {
			t.Errorf("%q, %v", s.Reveal(), err)
		}
	}
	if s, err := vault.ClientSecret(t.Context(), c, "https://evil.example.com"); !fault.Is(err, fault.Conflict) || !s.Empty() {
		t.Errorf("to another issuer: %v", err)
	}
	for name, change := range map[string]func(*connectors.Connector){
		"another origin": func(c *connectors.Connector) { c.URL = "https://elsewhere.example.com/mcp" },
		"another client": func(c *connectors.Connector) { c.OAuth.ClientID = "other" },
	} {
		other := c
		change(&other)
		if _, err := vault.ClientSecret(t.Context(), other, issuer); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.Door().Connectors().SetClientSecret(t.Context(), c, "s3cret-2"); err != nil {
		t.Fatal(err)
	}
	if s, err := vault.ClientSecret(t.Context(), c, "https://new.example.com"); err != nil || s.Reveal() != "s3cret-2" {
		t.Errorf("entered again: %v", err)
	}
	if was, err := w.Door().Connectors().DeleteClientSecret(t.Context(), c.ID); !was || err != nil {
		t.Errorf("deleted: %v, %v", was, err)
	}
}

func TestClientSecret_ConcurrentFirstUse(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := withClient(t, w)
	if err := w.Door().Connectors().SetClientSecret(t.Context(), c, "s3cret"); err != nil {
		t.Fatal(err)
	}
	var uses errgroup.Group
	for range 8 {
		uses.Go(func() error {
			_, err := w.St.Vault(w.Tenant).ClientSecret(t.Context(), c, issuer)
			return err
		})
	}
	if err := uses.Wait(); err != nil {
		t.Error(err)
	}
}

func TestEndGrant_SharedGrantMarksConnector(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	oauth2 := func(mode connectors.CredentialMode) func(*connectors.Draft) {
		return func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = connectors.AuthOAuth2, mode }
	}
	shared, own, agent := w.Connector(t, oauth2(connectors.CredentialShared)), w.Connector(t, oauth2(connectors.CredentialPerAgent)), w.Agent(t)
	agents := newGrant(own)
	agents.AgentID, agents.Name = &agent.ID, "home"
	for _, g := range []store.NewGrant{newGrant(shared), agents} {
		if err := w.Door().Accounts().SaveGrant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		stored, err := w.St.Vault(w.Tenant).Grant(t.Context(), g.ConnectorID, g.AgentID)
		if err != nil {
			t.Fatal(err)
		}
		stored.Tokens.Meta.WantedScopes = []string{"write"}
		for _, want := range []bool{true, false} { // the second time the version has moved on
			ended, err := w.St.Vault(w.Tenant).RefuseGrant(t.Context(), stored.ID, stored.Version, stored.Tokens.Meta, "It ended.", nil)
			if err != nil || ended != want {
				t.Errorf("ended = %v, %v", ended, err)
			}
		}
		after, err := w.St.Vault(w.Tenant).Grant(t.Context(), g.ConnectorID, g.AgentID)
		if err != nil || after.Status != connectors.CredentialRevoked || after.Error != "It ended." || len(after.Tokens.Meta.WantedScopes) != 1 {
			t.Errorf("grant = %+v, %v", after.Credential, err)
		}
	}
	for c, want := range map[connectors.ConnectorID]connectors.ConnectorStatus{
		shared.ID: connectors.StatusNeedsAuth, own.ID: connectors.StatusNeverSynced,
	} {
		now, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.String()))
		if err != nil || now.Status != want {
			t.Errorf("status %s, want %s (%v)", now.Status, want, err)
		}
	}
	var events int
	err := asSystem(t.Context(), w.Pool, `select count(*) from audit_events where action = 'credential.revoked' and actor_type = 'system'`, nil, &events)
	if err != nil || events != 2 {
		t.Errorf("%d events, %v", events, err)
	}
	const named = `select count(*) from audit_events where action = 'credential.revoked' and detail ->> 'account' = 'home' and detail ->> 'agent' = $1
		and detail ->> 'agent_id' is not null`
	if err := asSystem(t.Context(), w.Pool, named, []any{agent.Slug}, &events); err != nil || events != 1 {
		t.Errorf("%d events name the account, %v", events, err)
	}
}

func TestExpiringCredentials_SoonAndExpired(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	in := func(d time.Duration) *time.Time { at := time.Now().Add(d); return &at }
	for name, tc := range map[string]struct {
		expires, refreshExpires *time.Time
		refreshable             bool
		foretold                bool
		status                  connectors.CredentialStatus
	}{
		"ended":                   {expires: in(-time.Hour), foretold: true, status: connectors.CredentialExpired},
		"soon":                    {expires: in(time.Hour), foretold: true, status: connectors.CredentialActive},
		"renewed by us":           {expires: in(-time.Hour), refreshable: true, status: connectors.CredentialActive},
		"late":                    {expires: in(100 * time.Hour), status: connectors.CredentialActive},
		"refresh token ends soon": {expires: in(time.Hour), refreshable: true, refreshExpires: in(50 * time.Hour), foretold: true, status: connectors.CredentialActive},
		"for good":                {status: connectors.CredentialActive},
	} {
		c := w.Connector(t, func(d *connectors.Draft) { d.Name, d.Auth.Type = name, connectors.AuthOAuth2 })
		g := newGrant(c)
		g.ExpiresAt, g.Meta.Refreshable, g.Meta.RefreshExpiresAt = tc.expires, tc.refreshable, tc.refreshExpires
		if err := w.Door().Accounts().SaveGrant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		listed, err := w.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{})
		if err != nil || listed.Items[0].Status != tc.status {
			t.Errorf("%s: %v, %v", name, listed.Items, err)
		}
		list, err := w.Door().Accounts().ExpiringCredentials(t.Context(), 72*time.Hour, 20)
		if err != nil {
			t.Fatal(err)
		}
		foretold := slices.ContainsFunc(list, func(e store.ExpiringCredential) bool { return e.ConnectorName == name })
		if foretold != tc.foretold {
			t.Errorf("%s: foretold %v", name, foretold)
		}
	}
}
