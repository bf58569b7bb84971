package auth_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// entry is what a test compares of an entry of the audit log.
type entry struct {
	Action, Actor, Target, IP, RequestID string
	Proven                               bool   // by a second factor
	Session                              string // that it is about
}

// entries are a tenant's about its people's accounts, the oldest first.
func entries(t *testing.T, door *store.Tenant) (all []entry) {
	t.Helper()
	list, err := door.Audit().List(t.Context(), store.AuditFilter{Action: "account"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Items {
		if e.Action == "account.second_factor_add" {
			continue // by the fixture
		}
		var detail struct {
			Session      string `json:"session"`
			SecondFactor bool   `json:"second_factor"`
		}
		if err := json.Unmarshal(e.Detail, &detail); err != nil {
			t.Fatal(err)
		}
		all = append([]entry{{e.Action, e.ActorName, e.Target, e.IP, e.RequestID, detail.SecondFactor, detail.Session}}, all...)
	}
	return all
}

func TestSignInAndOut_AreAuditedInOpenTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	w.MemberIn(t, w.Other, connectors.RoleViewer, func(n *store.NewMember) { n.Email = m.Email })
	b := &browser{t: t, w: w}
	from := somewhere
	from.RequestID = "request-1"
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSessionIn(ctx, m.UserID, w.Tenant, from); err != nil {
			t.Error(err)
		}
	})
	a := b.actor()
	a.RequestID, a.Address = "request-2", "192.0.2.8"
	b.do(func(ctx context.Context) {
		for range 2 { // a button that is pressed twice
			if err := w.auth.SignOut(ctx, a); err != nil {
				t.Error(err)
			}
		}
	})
	want := []entry{
		{Action: "account.sign_in", Actor: m.DisplayName(), Target: m.Email, IP: somewhere.Address, RequestID: "request-1", Session: a.Session.String()},
		{Action: "account.sign_out_here", Actor: m.DisplayName(), Target: m.Email, IP: "192.0.2.8", RequestID: "request-2", Session: a.Session.String()},
	}
	if diff := cmp.Diff(want, entries(t, w.Door())); diff != "" {
		t.Errorf("on record (-want +got):\n%s", diff)
	}
	if there := entries(t, w.OtherDoor()); len(there) > 0 {
		t.Errorf("in the person's other tenant: %+v", there)
	}
}

// Half a sign-in is none.
func TestSignIn_AuditedAfterSecondFactor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.proven(t, connectors.RoleMember)
	b := w.halfIn(t, m.UserID)
	if half := entries(t, w.Door()); len(half) > 0 {
		t.Errorf("half signed in, on record: %+v", half)
	}
	if err := b.finish(w.code(t)); err != nil {
		t.Fatal(err)
	}
	want := []entry{{Action: "account.sign_in", Actor: m.DisplayName(), Target: m.Email, IP: somewhere.Address, Proven: true, Session: b.actor().Session.String()}}
	if diff := cmp.Diff(want, entries(t, w.Door())); diff != "" {
		t.Errorf("on record (-want +got):\n%s", diff)
	}
}

// Package sso audits it, with the provider's response.
func TestStartSessionBySSO_IsNoPasswordSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	w.singleSignOn(t, w.Tenant, nil)
	b := &browser{t: t, w: w}
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSessionBySSO(ctx, m.UserID, w.Tenant, auth.Browser{}); err != nil {
			t.Error(err)
		}
	})
	if _, err := b.who(); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, w.Door()); len(got) > 0 {
		t.Errorf("on record: %+v", got)
	}
}

func TestSignIn_FailsWithoutAuditEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	w.RefuseAudit(t, "")
	b := &browser{t: t, w: w}
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSession(ctx, m.UserID, somewhere); err == nil {
			t.Error("it began")
		}
	})
	if a, err := b.who(); err == nil {
		t.Errorf("signed in as %v", a.Name)
	}
}
