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

// idle makes every grant one that was renewed and used so long ago.
func (c *connection) idle(t testing.TB, ago time.Duration) {
	t.Helper()
	c.AsSystem(t, "update credentials set updated_at = now() - make_interval(secs => $1), last_used_at = now() - make_interval(secs => $1)", []any{ago.Seconds()})
}

// renewIdle is one round of a process with all the time that it takes.
func renewIdle(t testing.TB, r *credentials.Resolver) credentials.IdleReport {
	t.Helper()
	report, err := r.RenewIdle(t.Context(), time.Minute)
	must(t, err)
	return report
}

func wantReport(t *testing.T, have, want credentials.IdleReport) {
	t.Helper()
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-want +have):\n%s", diff)
	}
}

func TestAnAccountThatNobodyUsedForADayIsRenewedOnceADay(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(240*time.Hour))
	r := c.here()
	wantReport(t, renewIdle(t, r), credentials.IdleReport{}) // it is new
	c.idle(t, 27*time.Hour)
	before := c.stored(t, nil)
	wantReport(t, renewIdle(t, r), credentials.IdleReport{Renewed: 1})
	after := c.stored(t, nil)
	if after.Version != before.Version+1 || after.Tokens.RefreshToken == before.Tokens.RefreshToken || after.LastUsedAt.After(*before.LastUsedAt) {
		t.Errorf("grant = %+v", after.Credential)
	}
	wantReport(t, renewIdle(t, r), credentials.IdleReport{})
	c.idle(t, 27*time.Hour)
	wantReport(t, renewIdle(t, r), credentials.IdleReport{Renewed: 1})
}

func TestAnAccountThatIsUsedIsLeftToItsUsers(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.idle(t, 27*time.Hour)
	must(t, c.St.Vault(c.Tenant).MarkUsed(t.Context(), c.stored(t, nil).ID))
	wantReport(t, renewIdle(t, c.here()), credentials.IdleReport{})
}

func TestWhatServesNobodyIsNotRenewed(t *testing.T) {
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
			c := connect(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
			c.idle(t, 27*time.Hour)
			c.AsSystem(t, sql, nil)
			wantReport(t, renewIdle(t, c.here()), credentials.IdleReport{})
			if n := c.as.Count(oauthtest.Refresh); n != 0 {
				t.Errorf("%d refreshes", n)
			}
		})
	}
}

func TestAccountsThatBeganTogetherAreNotRenewedTogether(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.AsSystem(t, "update connectors set credential_mode = 'per_agent'", nil)
	for range 20 {
		agent := c.Agent(t)
		c.grant(t, &agent.ID, time.Now().Add(240*time.Hour))
	}
	c.idle(t, 25*time.Hour)
	if n := renewIdle(t, c.here()).Renewed; n < 2 || n > 18 { // a half of them is expected
		t.Errorf("%d of 20 after an hour of two", n)
	}
}

func TestAFailureOfAnIdleAccountIsOneLikeAnyOther(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	r := c.here()
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.Unavailable })
	c.idle(t, 27*time.Hour)
	wantReport(t, renewIdle(t, r), credentials.IdleReport{Failed: 1})
	if got := c.status(t); got != connectors.CredentialRefreshFailed {
		t.Errorf("status = %s", got)
	}
	if now := c.now(t); now.LastError != nil {
		t.Errorf("the connector has a trouble: %+v", now.LastError)
	}
	c.waited(t)
	wantReport(t, renewIdle(t, r), credentials.IdleReport{}) // not before an hour
	c.idle(t, 61*time.Minute)
	c.AsSystem(t, "update credentials set last_used_at = null", nil)
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
	wantReport(t, renewIdle(t, r), credentials.IdleReport{Renewed: 1})
}

func TestOnlyTheAuthorizationServerEndsAnIdleAccount(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.as.EndGrants()
	c.idle(t, 27*time.Hour)
	wantReport(t, renewIdle(t, c.here()), credentials.IdleReport{Ended: 1})
	if got := c.status(t); got != connectors.CredentialRevoked {
		t.Errorf("status = %s", got)
	}
	if now := c.now(t); now.Status != connectors.StatusNeedsAuth {
		t.Errorf("the connector's status is %s", now.Status)
	}
}

func TestSeveralProcessesRenewAnIdleAccountOnce(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(240*time.Hour))
	c.idle(t, 27*time.Hour)
	hold := make(chan struct{})
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = hold })
	var processes errgroup.Group
	for range 3 {
		r := c.replica(t)
		processes.Go(func() error {
			_, err := r.RenewIdle(context.WithoutCancel(t.Context()), time.Minute)
			return err
		})
	}
	<-c.as.Arrived(oauthtest.Refresh)
	close(hold)
	must(t, processes.Wait())
	if n := c.as.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	if got := c.stored(t, nil); got.Status != connectors.CredentialActive {
		t.Errorf("grant = %+v", got.Credential)
	}
}

func TestAnAuthorizationServerThatFailsKeepsItsOtherAccountsForLater(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.AsSystem(t, "update connectors set credential_mode = 'per_agent'", nil)
	for range 5 {
		agent := c.Agent(t)
		c.grant(t, &agent.ID, time.Now().Add(240*time.Hour))
	}
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.Unavailable })
	c.idle(t, 27*time.Hour)
	wantReport(t, renewIdle(t, c.here()), credentials.IdleReport{Failed: 3, Left: 2})
}

func TestARoundBeginsNothingWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(240*time.Hour))
	c.idle(t, 27*time.Hour)
	report, err := c.here().RenewIdle(t.Context(), 0)
	must(t, err)
	wantReport(t, report, credentials.IdleReport{More: true})
	if n := c.as.Count(oauthtest.Refresh); n != 0 {
		t.Errorf("%d refreshes", n)
	}
}
