package store_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	for _, err := range []error{
		door.SaveRegistration(t.Context(), redirectURI, registration()),
		door.SaveGrant(t.Context(), newGrant(c)),
		door.SaveFlow(t.Context(), newFlow(c, 1)),
		door.SaveFlow(t.Context(), newFlow(c, 2)),
		door.SaveConnectLink(t.Context(), newLink(c, 1)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if o.flow, err = o.St.System().TakeFlow(t.Context(), bytes.Repeat([]byte{2}, 32)); err != nil {
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
	if err := w.Door().SaveFlow(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	f, err := w.St.System().TakeFlow(t.Context(), want.StateHash)
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
	_, err = w.St.System().TakeFlow(t.Context(), want.StateHash)
	wantKind(t, err, fault.NotFound)
}

func TestAConnectLinkIsTakenOnceAndNotPastItsTime(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	live, dead := newLink(w.Connector(t), 1), newLink(w.Connector(t), 2)
	dead.ExpiresAt = time.Now().Add(-time.Second)
	for _, l := range []store.NewConnectLink{live, dead} {
		if err := w.Door().SaveConnectLink(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	sys := w.St.System()
	for range 2 { // looking is not taking
		if l, err := sys.ConnectLink(t.Context(), live.TokenHash); err != nil || l.Tenant != w.Tenant || !l.ExpiresAt.Equal(live.ExpiresAt) {
			t.Errorf("link = %+v, %v", l, err)
		}
	}
	if _, err := sys.TakeConnectLink(t.Context(), live.TokenHash); err != nil {
		t.Error(err)
	}
	for _, hash := range [][]byte{live.TokenHash, dead.TokenHash} {
		_, err := sys.TakeConnectLink(t.Context(), hash)
		wantKind(t, err, fault.NotFound)
	}
}

func TestARegistrationIsOneForEachIssuerAndForgottenByItsClient(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	door, vault := w.Door(), w.St.Vault(w.Tenant)
	if err := door.SaveRegistration(t.Context(), redirectURI, registration()); err != nil {
		t.Fatal(err)
	}
	r, err := vault.Registration(t.Context(), issuer, redirectURI)
	if err != nil || r != registration() {
		t.Errorf("registration: %+v, %v", r, err)
	}
	_, err = vault.Registration(t.Context(), "https://other.example.com", redirectURI)
	wantKind(t, err, fault.NotFound)
	if err := door.ForgetRegistration(t.Context(), issuer, redirectURI, "an older one"); err != nil {
		t.Fatal(err)
	}
	if _, err := vault.Registration(t.Context(), issuer, redirectURI); err != nil {
		t.Errorf("a newer one was forgotten: %v", err)
	}
	if err := door.ForgetRegistration(t.Context(), issuer, redirectURI, "client"); err != nil {
		t.Fatal(err)
	}
	_, err = vault.Registration(t.Context(), issuer, redirectURI)
	wantKind(t, err, fault.NotFound)
}

func TestOneLeaseAtATimeAndOnlyItsHolderWrites(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, vault := w.Connector(t), w.St.Vault(w.Tenant)
	if err := w.Door().SaveGrant(t.Context(), newGrant(c)); err != nil {
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
	if ok, err := vault.EndGrant(t.Context(), mine, "Late."); ok || err != nil {
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
	if err := w.Door().SaveGrant(t.Context(), newGrant(c)); err != nil {
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
			done, err := vault.DelayRefresh(t.Context(), l, "It did not answer.", step.wait)
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
