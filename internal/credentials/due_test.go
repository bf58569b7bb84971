package credentials_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

func TestDue_InLastFifthOfLifetime(t *testing.T) {
	t.Parallel()
	issued := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		life, margin time.Duration // margin: time before expiry, without jitter
	}{
		{24 * time.Hour, 5 * time.Minute},
		{time.Hour, 5 * time.Minute},
		{20 * time.Minute, 4 * time.Minute},
		{10 * time.Minute, 2 * time.Minute},
		{5 * time.Minute, time.Minute},
		{3 * time.Minute, time.Minute},
		{time.Minute, 30 * time.Second}, // else always due
		{10 * time.Second, 5 * time.Second},
		{-time.Second, 0},
	} {
		ends := issued.Add(tc.life)
		g := store.Grant{
			Credential: connectors.Credential{ExpiresAt: &ends, RefreshedAt: &issued, UpdatedAt: issued.Add(-time.Hour)},
			Tokens:     store.GrantTokens{AccessToken: "token"},
		}
		const jitter = 1.1
		for range 20 { // for different jitter
			if early := ends.Add(-time.Duration(jitter*float64(tc.margin)) - time.Second); credentials.Due(g, early) {
				t.Errorf("life %s: due %s before its end", tc.life, ends.Sub(early))
			}
			if late := ends.Add(-tc.margin + time.Millisecond); !credentials.Due(g, late) {
				t.Errorf("life %s: not due %s before its end", tc.life, ends.Sub(late))
			}
		}
		g.RefreshedAt, g.UpdatedAt = nil, issued // never refreshed: its life began when it was stored
		if credentials.Due(g, ends.Add(-time.Duration(jitter*float64(tc.margin))-time.Second)) {
			t.Errorf("life %s: a first token is due too early", tc.life)
		}
	}
}

func TestDue_WithoutTokenOrAfterFailure(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ends := now.Add(time.Hour)
	living := store.Grant{
		Credential: connectors.Credential{ExpiresAt: &ends, UpdatedAt: now, Status: connectors.CredentialActive},
		Tokens:     store.GrantTokens{AccessToken: "token"},
	}
	failed, none, forGood := living, living, living
	failed.Status = connectors.CredentialRefreshFailed // a failure also moves UpdatedAt
	none.Tokens.AccessToken = ""
	forGood.ExpiresAt = nil
	for name, tc := range map[string]struct {
		grant store.Grant
		due   bool
	}{"living": {living, false}, "failed": {failed, true}, "none": {none, true}, "for good": {forGood, false}} {
		if got := credentials.Due(tc.grant, now); got != tc.due {
			t.Errorf("%s: due = %v", name, got)
		}
	}
}

func TestRefresh_AssumesOneHourWithoutExpiry(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{ExpiresIn: oauthtest.NoExpiresIn}, time.Now().Add(-time.Minute))
	r := c.newResolver()
	c.token(t, r, nil)
	g := c.storedGrant(t, nil)
	if life := time.Until(*g.ExpiresAt); !g.Tokens.Meta.ExpiryAssumed || life < 59*time.Minute || life > time.Hour {
		t.Errorf("lives %s, assumed %v", life, g.Tokens.Meta.ExpiryAssumed)
	}
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.Unavailable })
	later := c.newResolver(func(o *credentials.Options) { o.Now = func() time.Time { return time.Now().Add(2 * time.Hour) } })
	if got := c.token(t, later, nil); got != g.Tokens.AccessToken.Reveal() {
		t.Error("a token that may well live was not used")
	}
	if n := c.as.Count(oauthtest.Refresh); n != 2 {
		t.Errorf("%d refreshes", n)
	}
}
