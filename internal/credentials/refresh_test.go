package credentials_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
)

func TestRefresh_ConcurrentCallersShareRequest(t *testing.T) {
	t.Parallel()
	for name, replicas := range map[string]int{"one process": 1, "three processes": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold := make(chan struct{})
			c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
			c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = hold })
			c.resolveFiftyTimes(t, replicas, func() {
				<-c.as.Arrived(oauthtest.Refresh)
				close(hold)
			})
			if n := c.as.Count(oauthtest.Refresh); n != 1 {
				t.Errorf("%d refreshes", n)
			}
		})
	}
}

// resolveFiftyTimes resolves a token fifty times at once in several processes. Each must be valid.
func (c *connection) resolveFiftyTimes(t *testing.T, replicas int, meanwhile func()) {
	t.Helper()
	var all []*credentials.Resolver
	for range replicas {
		all = append(all, c.newReplica(t))
	}
	var users errgroup.Group
	for i := range 50 {
		users.Go(func() error {
			headers, err := all[i%replicas].Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
			if err != nil {
				return err
			}
			if _, ok := c.as.Accepts(headers[0].Value.Reveal()[len("Bearer "):]); !ok {
				t.Error("a user got a token that is not good")
			}
			return nil
		})
	}
	meanwhile()
	must(t, users.Wait())
}

func TestForced_OncePerVersion(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
	r := c.newReplica(t)
	first, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
	must(t, err)
	for range 3 {
		u, err := r.ForceRefresh(t.Context(), c.Tenant, c.connector, first.ID, first.Version)
		if err != nil || u == nil || u.Version != first.Version+1 {
			t.Errorf("forced: %+v, %v", u, err)
		}
	}
	if n := c.as.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes", n)
	}
}

func TestForced_ReturnsUnrefreshableToken(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{NoRefreshToken: true}, time.Now().Add(time.Hour))
	r := c.newResolver()
	first, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
	must(t, err)
	u, err := r.ForceRefresh(t.Context(), c.Tenant, c.connector, first.ID, first.Version)
	if err != nil || u == nil || u.Version != first.Version || c.as.Count(oauthtest.Refresh) != 0 {
		t.Errorf("forced: %+v, %v", u, err)
	}
}

func TestRefresh_KeepsOmittedFields(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(-time.Minute))
	before := c.storedGrant(t, nil)
	if got := c.token(t, c.newResolver(), nil); got == before.Tokens.AccessToken.Reveal() {
		t.Error("the token is the old one")
	}
	after := c.storedGrant(t, nil)
	if after.Tokens.RefreshToken != before.Tokens.RefreshToken || after.Tokens.Meta.Resource != c.connector.URL {
		t.Errorf("grant = %+v", after.Tokens.Meta)
	}
	if after.Status != connectors.CredentialActive || after.RefreshedAt == nil || time.Until(*after.ExpiresAt) < 50*time.Minute {
		t.Errorf("grant = %+v", after.Credential)
	}
}

func TestRefresh_OutlivesCancelledCaller(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = hold })
	r := c.newResolver()
	leaving, leave := context.WithCancel(t.Context())
	left, stayed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := r.Headers(leaving, c.Tenant, c.connector, credentials.Account{})
		left <- err
	}()
	<-c.as.Arrived(oauthtest.Refresh)
	go func() {
		_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
		stayed <- err
	}()
	leave()
	wantNotRenewed(t, <-left)
	close(hold)
	must(t, <-stayed)
	if n := c.as.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes", n)
	}
}

// A process that was killed holds its lease for half a minute.
func TestRefresh_WaitForAnotherProcessIsBounded(t *testing.T) {
	t.Parallel()
	for name, validFor := range map[string]time.Duration{"expired": -time.Minute, "valid for a moment": 8 * time.Second} {
		c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
		c.expireIn(t, validFor)
		c.connector.Timeout = 50 * time.Millisecond
		stored := c.storedGrant(t, nil)
		_, isLeased, err := c.St.Vault(c.Tenant).LeaseGrant(t.Context(), stored, time.Minute)
		if err != nil || !isLeased {
			t.Fatal(isLeased, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		u, err := c.newResolver().Resolve(ctx, c.Tenant, c.connector, credentials.Account{})
		if ctx.Err() != nil {
			t.Errorf("%s: the connector's timeout did not bound the wait", name)
		}
		cancel()
		if validFor > 0 {
			if err != nil || u == nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if wantNotRenewed(t, err); !strings.Contains(fault.As(err).Message, "longer than the connector's timeout") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStop_WaitsForRefresh(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(2*time.Minute))
	c.expireIn(t, 30*time.Second)
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = hold })
	r := c.newResolver(func(o *credentials.Options) { o.RefreshWait = time.Millisecond })
	before := c.storedGrant(t, nil)
	if got := c.token(t, r, nil); got != before.Tokens.AccessToken.Reveal() {
		t.Error("the living token was not used")
	}
	<-c.as.Arrived(oauthtest.Refresh)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.Stop(t.Context())
	}()
	select {
	case <-stopped:
		t.Error("stopped in the middle of a refresh")
	case <-time.After(50 * time.Millisecond):
	}
	close(hold)
	<-stopped
	after := c.storedGrant(t, nil)
	if after.Version != before.Version+1 {
		t.Errorf("the new token was not kept: version %d", after.Version)
	}
	_, err := r.ForceRefresh(t.Context(), c.Tenant, c.connector, after.ID, after.Version)
	wantNotRenewed(t, err)
	if n := c.as.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes", n)
	}
}

func TestFor_ValidGrantIsOneStatement(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
	r := c.newResolver()
	c.token(t, r, nil) // prepares the statement
	statements, trips := c.Queries(), c.RoundTrips()
	c.token(t, r, nil)
	if n, m := c.Queries()-statements, c.RoundTrips()-trips; n != 1 || m != 1 {
		t.Errorf("%d statements in %d round trips", n, m)
	}
}
