package auth_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// wantAsked wants a dangerous act to be refused until the person confirms.
func (b *browser) wantAsked(want bool) {
	b.t.Helper()
	err := b.w.auth.RequireRecentAuth(b.actor())
	if f := fault.As(err); want != (f != nil && f.Kind == fault.Denied && f.Code == auth.CodeReauthenticate) {
		b.t.Errorf("asked: %v, want %t", err, want)
	}
}

func TestASessionCountsAsConfirmedForTenMinutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleOwner)
	b := w.signedIn(t, m.UserID)
	b.wantAsked(false)
	w.clock.forward(auth.RecentAuthTTL + time.Second)
	b.wantAsked(true)
	other := w.signedIn(t, m.UserID)
	wantKind(t, w.auth.Reauthenticate(t.Context(), b.actor(), "not the password", ""), fault.Invalid)
	b.wantAsked(true)
	if err := w.auth.Reauthenticate(t.Context(), b.actor(), password, ""); err != nil {
		t.Fatal(err)
	}
	b.wantAsked(false)
	w.clock.forward(auth.RecentAuthTTL - time.Second)
	other.wantAsked(false)
	w.clock.forward(2 * time.Second)
	other.wantAsked(true) // each session for itself
	if err := w.auth.RequireRecentAuth(w.owner(t)); err != nil {
		t.Errorf("the command line: %v", err)
	}
}

// A provider may have known the browser, and let it through without a question.
func TestConfirm_SSOSessionNeedsProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleOwner)
	w.singleSignOn(t, w.Tenant, nil)
	b := w.bySSO(t, m.UserID, w.Tenant)
	b.wantAsked(true)
	wantKind(t, w.auth.Reauthenticate(t.Context(), b.actor(), password, ""), fault.Denied)
	b.do(func(ctx context.Context) {
		if err := w.auth.ConfirmBySSO(ctx, b.actor()); err != nil {
			t.Error(err)
		}
	})
	b.wantAsked(false)
	byPassword := w.signedIn(t, m.UserID)
	wantKind(t, w.auth.ConfirmBySSO(t.Context(), byPassword.actor()), fault.Denied)
}

// A program of the release before says nothing of it.
func TestRequireConfirmed_OldSessionAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t, w.person(t, connectors.RoleOwner).UserID)
	w.AsSystem(t, "update browser_sessions set confirmed_at = null", nil)
	b.wantAsked(true)
}
