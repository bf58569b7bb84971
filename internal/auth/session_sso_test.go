package auth_test

import (
	"context"
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func TestListSessions_IncludesSSO(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w world, here *browser, there auth.Actor) error{
		"revoked at another place": func(w world, here *browser, there auth.Actor) error {
			return w.auth.RevokeSession(t.Context(), here.actor(), there.Session)
		},
		"signed out everywhere": func(w world, here *browser, _ auth.Actor) (err error) {
			here.do(func(ctx context.Context) {
				var a auth.Actor
				if a, err = w.auth.FromSession(ctx); err == nil {
					err = w.auth.SignOutEverywhere(ctx, a)
				}
			})
			return err
		},
		"signed out by an owner": func(w world, _ *browser, there auth.Actor) error {
			return w.auth.SignOutMember(t.Context(), w.owner(t), *there.UserID)
		},
		"no member any more": func(w world, _ *browser, there auth.Actor) error {
			return w.auth.RemoveMember(t.Context(), w.owner(t), *there.UserID)
		},
		"single sign-on is forgotten": func(w world, _ *browser, _ auth.Actor) error { return w.Door().SSO().Delete(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			replica := auth.New(auth.Options{Store: w.St, Now: w.clock.Now, PasswordCost: &cheap})
			m := w.person(t, connectors.RoleMember)
			w.singleSignOn(t, w.Tenant, nil)
			here, there := w.signedIn(t, m.UserID), w.bySSO(t, m.UserID, w.Tenant)
			a := there.actor()
			if all, err := w.auth.ListSessions(t.Context(), here.actor()); err != nil || len(all) != 2 || all[0].ID != a.Session && all[1].ID != a.Session {
				t.Fatalf("listed: %+v, %v", all, err)
			}
			if err := end(w, here, a); err != nil {
				t.Fatal(err)
			}
			there.out(w.auth, replica)
		})
	}
}

func TestStartSessionBySSO_EndsEarlierSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	w.singleSignOn(t, w.Tenant, nil)
	b := w.signedIn(t, m.UserID)
	before := b.actor().Session
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSessionBySSO(ctx, m.UserID, w.Tenant, somewhere); err != nil {
			t.Error(err)
		}
	})
	a := b.actor()
	b.do(func(ctx context.Context) {
		if w.auth.Sessions().Exists(ctx, "user") {
			t.Error("a program that knows of no single sign-on lets this session into each of the person's tenants")
		}
	})
	if all, err := w.auth.ListSessions(t.Context(), a); err != nil || len(all) != 1 || a.Session == before || !a.BySSO {
		t.Errorf("%+v, %v", all, err)
	}
	wantKind(t, w.auth.RevokeSession(t.Context(), a, before), fault.NotFound)
}
