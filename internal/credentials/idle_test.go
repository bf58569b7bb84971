package credentials_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/oauth/oauthtest"
)

// makeIdle moves the last use and refresh of all grants back.
func (c *connection) makeIdle(t testing.TB, ago time.Duration) {
	t.Helper()
	c.AsSystem(t, "update credentials set updated_at = now() - make_interval(secs => $1), last_used_at = now() - make_interval(secs => $1)", []any{ago.Seconds()})
}

// renewIdle runs RefreshIdle without a limit.
func renewIdle(t testing.TB, r *credentials.Resolver) credentials.IdleReport {
	t.Helper()
	report, err := r.RefreshIdle(t.Context(), time.Minute)
	must(t, err)
	return report
}

func wantReport(t *testing.T, have, want credentials.IdleReport) {
	t.Helper()
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

func TestRenewIdle_OnceADay(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(240*time.Hour))
	r := c.newResolver()
	wantReport(t, renewIdle(t, r), credentials.IdleReport{}) // just connected
	c.makeIdle(t, 27*time.Hour)
	before := c.storedGrant(t, nil)
	wantReport(t, renewIdle(t, r), credentials.IdleReport{Refreshed: 1})
	after := c.storedGrant(t, nil)
	if after.Version != before.Version+1 || after.Tokens.RefreshToken == before.Tokens.RefreshToken || after.LastUsedAt.After(*before.LastUsedAt) {
		t.Errorf("grant = %+v", after.Credential)
	}
	wantReport(t, renewIdle(t, r), credentials.IdleReport{})
	c.makeIdle(t, 27*time.Hour)
	wantReport(t, renewIdle(t, r), credentials.IdleReport{Refreshed: 1})
}

func TestRenewIdle_SkipsUsedAccount(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.makeIdle(t, 27*time.Hour)
	must(t, c.St.Vault(c.Tenant).MarkUsed(t.Context(), c.storedGrant(t, nil).ID))
	wantReport(t, renewIdle(t, c.newResolver()), credentials.IdleReport{})
}

func TestRenewIdle_SkipsUnusableGrants(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"of a disabled connector":             "update connectors set enabled = false",
		"that ended":                          "update credentials set status = 'revoked'",
		"without a refresh token":             "update credentials set grant_meta = grant_meta - 'refreshable'",
		"shared where each agent has its own": "update connectors set credential_mode = 'per_agent'",
		"whose renewal is under way":          "update credentials set lease_id = gen_random_uuid(), lease_until = now() + interval '1 minute'",
		"whose failure is waited out":         "update credentials set retry_at = now() + interval '1 minute'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
			c.makeIdle(t, 27*time.Hour)
			c.AsSystem(t, sql, nil)
			wantReport(t, renewIdle(t, c.newResolver()), credentials.IdleReport{})
			if n := c.as.Count(oauthtest.Refresh); n != 0 {
				t.Errorf("%d refreshes", n)
			}
		})
	}
}

func TestRenewIdle_SpreadsAccounts(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.AsSystem(t, "update connectors set credential_mode = 'per_agent'", nil)
	for range 20 {
		agent := c.Agent(t)
		c.saveGrant(t, &agent.ID, time.Now().Add(240*time.Hour))
	}
	c.makeIdle(t, 25*time.Hour)
	if n := renewIdle(t, c.newResolver()).Refreshed; n < 2 || n > 18 { // half of them are expected
		t.Errorf("%d of 20 after an hour of two", n)
	}
}

func TestRenewIdle_FailureDelaysAccount(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	r := c.newResolver()
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.Unavailable })
	c.makeIdle(t, 27*time.Hour)
	wantReport(t, renewIdle(t, r), credentials.IdleReport{Failed: 1})
	if got := c.status(t); got != connectors.CredentialRefreshFailed {
		t.Errorf("status = %s", got)
	}
	if now := c.reloadConnector(t); now.LastError != nil {
		t.Errorf("the connector has a trouble: %+v", now.LastError)
	}
	c.skipRetryDelay(t)
	wantReport(t, renewIdle(t, r), credentials.IdleReport{}) // retried after an hour only
	c.makeIdle(t, 61*time.Minute)
	c.AsSystem(t, "update credentials set last_used_at = null", nil)
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
	wantReport(t, renewIdle(t, r), credentials.IdleReport{Refreshed: 1})
}

func TestRenewIdle_OnlyServerEndsAccount(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.as.EndGrants()
	c.makeIdle(t, 27*time.Hour)
	wantReport(t, renewIdle(t, c.newResolver()), credentials.IdleReport{Ended: 1})
	if got := c.status(t); got != connectors.CredentialRevoked {
		t.Errorf("status = %s", got)
	}
	if now := c.reloadConnector(t); now.Status != connectors.StatusNeedsAuth {
		t.Errorf("the connector's status is %s", now.Status)
	}
}

func TestRenewIdle_OnceAcrossProcesses(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(240*time.Hour))
	c.makeIdle(t, 27*time.Hour)
	hold := make(chan struct{})
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = hold })
	var processes errgroup.Group
	for range 3 {
		r := c.newReplica(t)
		processes.Go(func() error {
			_, err := r.RefreshIdle(context.WithoutCancel(t.Context()), time.Minute)
			return err
		})
	}
	<-c.as.Arrived(oauthtest.Refresh)
	close(hold)
	must(t, processes.Wait())
	if n := c.as.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	if got := c.storedGrant(t, nil); got.Status != connectors.CredentialActive {
		t.Errorf("grant = %+v", got.Credential)
	}
}

func TestRenewIdle_FailingServerDefersAccounts(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.AsSystem(t, "update connectors set credential_mode = 'per_agent'", nil)
	for range 5 {
		agent := c.Agent(t)
		c.saveGrant(t, &agent.ID, time.Now().Add(240*time.Hour))
	}
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.Unavailable })
	c.makeIdle(t, 27*time.Hour)
	wantReport(t, renewIdle(t, c.newResolver()), credentials.IdleReport{Failed: 3, Postponed: 2})
}

func TestRenewIdle_StopsAtDeadline(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.makeIdle(t, 27*time.Hour)
	report, err := c.newResolver().RefreshIdle(t.Context(), 0)
	must(t, err)
	wantReport(t, report, credentials.IdleReport{More: true})
	if n := c.as.Count(oauthtest.Refresh); n != 0 {
		t.Errorf("%d refreshes", n)
	}
}
