package sso_test

import (
	"context"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/sso"
	"patchbay/internal/store"
)

func operatorOf(a auth.Actor) auth.Actor { return auth.Operator(a.Tenant) }

func TestSave_RequiresTestBeforeEnabling(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.save(w.owner, w.settings())
	on := sso.Change{Enabled: new(true)}
	if _, err := w.sso.Save(t.Context(), w.owner, on); field(err) != "enabled" {
		t.Errorf("untried: %v", err)
	}
	trial := w.tried(w.owner)
	if trial.Email != "ada@acme.example" || trial.Covered || trial.Role != connectors.RoleMember || len(trial.Groups) != 1 {
		t.Errorf("%+v", trial)
	}
	if _, err := w.sso.Save(t.Context(), w.owner, on); field(err) != "enabled" {
		t.Errorf("without a domain: %v", err)
	}
	if err := w.sso.Claim(t.Context(), w.owner, "acme.example"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.sso.Save(t.Context(), w.owner, on); field(err) != "enabled" {
		t.Errorf("with a domain that is only claimed: %v", err)
	}
	w.vouch(w.owner, "acme.example")
	if _, err := w.signIn("ada@acme.example"); field(err) != "email" {
		t.Errorf("signed in before it is on: %v", err)
	}
	w.save(w.owner, on)
	began := connectors.Session{ID: store.NewSessionID(), Began: time.Now(), SSO: &w.Tenant}
	if err := w.St.System().Sessions().BeginSession(t.Context(), *w.owner.UserID, began); err != nil {
		t.Fatal(err)
	}
	after, err := w.sso.Save(t.Context(), w.owner, sso.Change{ClientID: new("another")})
	if err != nil || after.Enabled || after.TestedAt != nil {
		t.Errorf("another client: %+v, %v", after, err)
	}
	if left, err := w.Door().People().Sessions(t.Context(), *w.owner.UserID, time.Time{}, time.Time{}); err != nil || len(left) != 0 {
		t.Errorf("%d sessions of the client before are left, %v", len(left), err)
	}
}

func TestATestSignsNobodyInAndIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.save(w.owner, w.settings())
	w.vouch(w.owner, "acme.example")
	to, err := w.sso.Try(t.Context(), w.owner, adasBrowser)
	if err != nil {
		t.Fatal(err)
	}
	before := w.members()
	other := w.ownerIn(w.Tenant)
	_, err = w.sso.Finish(t.Context(), sso.Return{Query: w.authorizeAt(to), Browser: adasBrowser, Person: &other})
	refused(t, err, "sso-tester")
	w.tried(w.owner)
	if now := w.members(); now != before+1 { // the other owner
		t.Errorf("%d members, and %d before", now, before)
	}
}

func TestWhatCannotBeStoredIsSaidAtItsField(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	viewer, other := w.Member(t, connectors.RoleViewer), w.Member(t, connectors.RoleOwner)
	for name, c := range map[string]struct {
		change sso.Change
		want   string
	}{
		"no provider":             {w.settings(func(c *sso.Change) { c.Issuer = new("") }), "issuer"},
		"a provider in our house": {w.settings(func(c *sso.Change) { c.Issuer = new("http://169.254.169.254") }), "issuer"},
		"a provider with a query": {w.settings(func(c *sso.Change) { c.Issuer = new("https://login.example.com/?a=b") }), "issuer"},
		"no client":               {w.settings(func(c *sso.Change) { c.ClientID = new(" ") }), "client_id"},
		"no secret":               {w.settings(func(c *sso.Change) { c.ClientSecret = "" }), "client_secret"},
		"a role that is none":     {w.settings(func(c *sso.Change) { c.Groups = &[]connectors.GroupRole{{Group: "a", Role: "king"}} }), "groups"},
		"a group twice": {w.settings(func(c *sso.Change) {
			c.Groups = &[]connectors.GroupRole{{Group: "a", Role: "viewer"}, {Group: "a", Role: "admin"}}
		}), "groups"},
		"everybody an owner":       {w.settings(func(c *sso.Change) { c.DefaultRole = new(connectors.RoleOwner) }), "default_role"},
		"members without any role": {w.settings(func(c *sso.Change) { c.Groups = &[]connectors.GroupRole{} }), "joins"},
		"a viewer as the way in":   {w.settings(func(c *sso.Change) { c.BreakGlass = &viewer.UserID }), "break_glass"},
		"one without a password":   {w.settings(func(c *sso.Change) { c.BreakGlass = &other.UserID }), "break_glass"},
	} {
		if _, err := w.sso.Save(t.Context(), w.owner, c.change); field(err) != c.want {
			t.Errorf("%s: %v, want it at %s", name, err, c.want)
		}
	}
	w.on(w.owner, "acme.example")
	if _, err := w.sso.Save(t.Context(), w.owner, sso.Change{Enforced: new(true)}); field(err) != "break_glass" {
		t.Errorf("enforced without a way in: %v", err)
	}
	if _, err := w.sso.Save(t.Context(), w.owner, sso.Change{Issuer: new("https://another.example.com")}); field(err) != "client_secret" {
		t.Errorf("the secret would be shown to another provider: %v", err)
	}
	self := w.owner
	self.BySSO = true
	if _, err := w.sso.Save(t.Context(), self, sso.Change{Enabled: new(false)}); !fault.Is(err, fault.Conflict) {
		t.Errorf("an owner shuts themselves out: %v", err)
	}
}

func TestOnlyAnOwnerHasAnythingToDoWithIt(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleMember, connectors.RoleAdmin} {
		a := w.owner
		a.Role = role
		_, settings := w.sso.Settings(t.Context(), a)
		_, save := w.sso.Save(t.Context(), a, w.settings())
		_, try := w.sso.Try(t.Context(), a, "b")
		for what, err := range map[string]error{
			"settings": settings, "save": save, "try": try, "check": w.sso.Check(t.Context(), a), "claim": w.sso.Claim(t.Context(), a, "a.example"),
			"verify": w.sso.Verify(t.Context(), a, "a.example"), "release": w.sso.Release(t.Context(), a, "a.example"), "forget": w.sso.Forget(t.Context(), a),
		} {
			if !fault.Is(err, fault.Denied) {
				t.Errorf("%s as %s: %v", what, role, err)
			}
		}
	}
	if err := w.sso.Vouch(t.Context(), w.owner, "acme.example"); !fault.Is(err, fault.Denied) {
		t.Errorf("an owner vouches for their own domain: %v", err)
	}
}

func TestADomainIsProvenByItsRecord(t *testing.T) {
	t.Parallel()
	zone := map[string][]string{}
	w := newOffice(t, func(o *sso.Options) {
		o.LookupTXT = func(_ context.Context, name string) ([]string, error) {
			if records, ok := zone[name]; ok {
				return records, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
	})
	rival := w.ownerIn(w.Other)
	for _, a := range []auth.Actor{w.owner, rival} {
		if err := w.sso.Claim(t.Context(), a, " @ACME.example. "); err != nil {
			t.Fatal(err)
		}
	}
	proof := func(a auth.Actor) string {
		s, err := w.sso.Settings(t.Context(), a)
		if err != nil || len(s.Domains) != 1 || s.Domains[0].Domain != "acme.example" || s.Domains[0].VerifiedAt != nil {
			t.Fatalf("%+v, %v", s, err)
		}
		return s.Domains[0].Proof
	}
	mine, theirs := proof(w.owner), proof(rival)
	if mine == theirs {
		t.Error("both are asked for the same proof")
	}
	const host = "_patchbay.acme.example."
	for _, records := range [][]string{nil, {theirs}, {"x" + mine}, {"v=spf1 -all"}} {
		if zone[host] = records; records == nil {
			delete(zone, host)
		}
		if err := w.sso.Verify(t.Context(), w.owner, "acme.example"); !fault.Is(err, fault.Conflict) {
			t.Errorf("%v proves it: %v", records, err)
		}
	}
	zone[host] = []string{"v=spf1 -all", mine}
	if err := w.sso.Verify(t.Context(), w.owner, "acme.example"); err != nil {
		t.Fatal(err)
	}
	zone[host] = []string{theirs}
	if err := w.sso.Verify(t.Context(), rival, "acme.example"); !fault.Is(err, fault.Conflict) {
		t.Errorf("two tenants have one domain: %v", err)
	}
	if err := w.sso.Release(t.Context(), w.owner, "acme.example"); err != nil {
		t.Fatal(err)
	}
	if err := w.sso.Verify(t.Context(), rival, "acme.example"); err != nil {
		t.Errorf("after it was given up: %v", err)
	}
	for _, wrong := range []string{"", "acme", "acme..example", "a b.example", "*.example", "-a.example", "acme.example/x", "ada@acme.example"} {
		if err := w.sso.Claim(t.Context(), w.owner, wrong); field(err) != "domain" {
			t.Errorf("%q is claimed: %v", wrong, err)
		}
	}
}

func TestSave_ManagedAccountsNeedTest(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	on := sso.Change{ManagedAccounts: new(true), Enabled: new(true)}
	after, err := w.sso.Save(t.Context(), w.owner, on)
	if err != nil || after.Enabled || after.TestedAt != nil || !after.ManagedAccounts {
		t.Fatalf("%+v, %v", after, err)
	}
	if _, err := w.sso.Save(t.Context(), w.owner, on); field(err) != "enabled" {
		t.Errorf("untested: %v", err)
	}
	to, err := w.sso.Try(t.Context(), w.owner, adasBrowser)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil || !strings.Contains(u.Query().Get("scope"), "offline_access") {
		t.Errorf("the test asks for %q, %v", u.Query().Get("scope"), err)
	}
	w.tried(w.owner)
	if after, err = w.sso.Save(t.Context(), w.owner, on); err != nil || !after.Enabled {
		t.Errorf("tested: %+v, %v", after, err)
	}
}
