package sso_test

import (
	"context"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/sso"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// office is a world with a provider for acme.example in its first tenant.
type office struct {
	*fixture.World
	t     *testing.T
	sso   *sso.Service
	idp   *idp
	owner auth.Actor
	ahead atomic.Int64

	options sso.Options
}

const baseURL = "https://patchbay.example.com"

func newOffice(t *testing.T, opts ...func(*sso.Options)) *office {
	t.Helper()
	w := &office{World: fixture.New(t), t: t, idp: newIDP(t)}
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local, UserAgent: "Patchbay/test"})
	t.Cleanup(egress.Client().CloseIdleConnections)
	o := sso.Options{
		Store: w.St, HTTP: safehttp.Bounded(egress.Client(), 1<<20, time.Minute), CheckURL: egress.CheckURL, BaseURL: baseURL,
		Now:       func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) },
		LookupTXT: func(context.Context, string) ([]string, error) { return nil, nil },
	}
	for _, opt := range opts {
		opt(&o)
	}
	w.options = o
	w.fresh()
	w.owner = w.ownerIn(w.Tenant)
	return w
}

// fresh is the service in a process that knows no provider yet.
func (w *office) fresh() { w.sso = sso.New(w.options) }

// ownerIn is an owner of a tenant with a password.
func (w *office) ownerIn(tenant connectors.TenantID) auth.Actor {
	w.t.Helper()
	m := w.MemberIn(w.t, tenant, connectors.RoleOwner, func(n *store.NewMember) { n.PasswordHash = "$argon2id$hash" })
	self, err := w.St.Tenant(tenant).Self(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: connectors.RoleOwner, UserID: &m.UserID, Name: m.DisplayName(), Email: m.Email}
}

// settings are those that most tests begin with.
func (w *office) settings(more ...func(*sso.Change)) sso.Change {
	c := sso.Change{
		Issuer: &w.idp.URL, ClientID: new("patchbay"), ClientSecret: clientSecret, Joins: new(true),
		Groups: &[]connectors.GroupRole{{Group: "engineers", Role: connectors.RoleMember}, {Group: "admins", Role: connectors.RoleAdmin}},
	}
	for _, m := range more {
		m(&c)
	}
	return c
}

// on sets single sign-on up, tries it and turns it on, for a domain.
func (w *office) on(a auth.Actor, domain string, more ...func(*sso.Change)) {
	w.t.Helper()
	w.save(a, w.settings(more...))
	w.vouch(a, domain)
	w.tried(a)
	w.save(a, sso.Change{Enabled: new(true)})
}

func (w *office) save(a auth.Actor, c sso.Change) {
	w.t.Helper()
	if _, err := w.sso.Save(w.t.Context(), a, c); err != nil {
		w.t.Fatalf("save: %v", err)
	}
}

func (w *office) vouch(a auth.Actor, domain string) {
	w.t.Helper()
	if err := w.sso.Vouch(w.t.Context(), auth.Operator(a.Tenant), domain); err != nil {
		w.t.Fatalf("vouch: %v", err)
	}
}

func (w *office) tried(a auth.Actor) sso.Trial {
	w.t.Helper()
	browser := sso.Browser("the owner's browser")
	to, err := w.sso.Try(w.t.Context(), a, browser)
	if err != nil {
		w.t.Fatalf("try: %v", err)
	}
	done, err := w.sso.Finish(w.t.Context(), sso.Return{Query: w.authorizeAt(to), Browser: browser, Person: &a})
	if err != nil || done.Trial == nil {
		w.t.Fatalf("try: %+v, %v", done, err)
	}
	return *done.Trial
}

// authorizeAt opens the provider and returns its callback.
func (w *office) authorizeAt(to string) url.Values {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, to, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := w.idp.Client().Transport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = res.Body.Close()
	back, err := res.Location()
	if err != nil || back.Path != sso.CallbackPath {
		w.t.Fatalf("the provider answers %d, %v", res.StatusCode, err)
	}
	return back.Query()
}

const adasBrowser = sso.Browser("ada's browser")

// signIn goes all the way.
func (w *office) signIn(email string) (sso.Finished, error) {
	w.t.Helper()
	to, err := w.sso.Start(w.t.Context(), email, "/tools", adasBrowser)
	if err != nil {
		return sso.Finished{}, err
	}
	return w.sso.Finish(w.t.Context(), sso.Return{Query: w.authorizeAt(to), Browser: adasBrowser, Address: "192.0.2.1", RequestID: "r-1"})
}

// comes signs in, and is the member.
func (w *office) comes(email string) connectors.Member {
	w.t.Helper()
	done, err := w.signIn(email)
	if err != nil {
		w.t.Fatalf("sign in: %v", err)
	}
	m, err := w.St.Tenant(done.Tenant.ID).People().Member(w.t.Context(), done.User)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// refused fails the test unless the error is a refusal of this type, with a sentence.
func refused(t *testing.T, err error, typ string) {
	t.Helper()
	f := fault.As(err)
	if f == nil || f.Type != typ || f.Kind == fault.Internal || len(f.Message) < 20 || f.Message[len(f.Message)-1] != '.' {
		t.Errorf("%v (%+v), want %s", err, f, typ)
	}
}

func field(err error) string {
	if f := fault.As(err); f != nil && len(f.Fields) > 0 {
		return f.Fields[0].Location
	}
	return ""
}

func (w *office) events(action string) []store.RecordedEvent {
	w.t.Helper()
	list, err := w.Door().Audit().List(w.t.Context(), store.AuditFilter{Action: action})
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}
