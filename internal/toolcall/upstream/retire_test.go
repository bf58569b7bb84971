package upstream_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall/upstream"
)

func TestSweep_EndsSessionIdleForTenMinutes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := b.newRequest(b.newSharedConnector(t)), b.newRequest(b.newSharedConnector(t))
	must(t, b.call(t.Context(), one))
	b.clock.advance(5 * time.Minute)
	must(t, b.call(t.Context(), two))
	b.clock.advance(5 * time.Minute)
	b.pool.Sweep()
	b.server.wantDeleted(t, "secret-session-1")
	must(t, b.call(t.Context(), two))
	b.clock.advance(10*time.Minute - time.Millisecond)
	b.pool.Sweep()
	must(t, b.call(t.Context(), two))
	if n := b.server.openedSessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestSweep_RunsByTimer(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *upstream.Options) { o.IdleTimeout, o.Now = time.Second, nil })
	must(t, b.call(t.Context(), b.newRequest(b.newSharedConnector(t))))
	b.server.wantDeleted(t, "secret-session-1")
}

func TestUse_RotatedCredentialReplacesSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	must(t, b.call(t.Context(), b.newRequest(c)))
	b.saveCredential(t, b.Tenant, c, nil, connectors.Secret{Token: "two"})
	must(t, b.call(t.Context(), b.newRequest(c)))
	b.server.wantDeleted(t, "secret-session-1")
	if n := b.server.openedSessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// startHeldCall starts a call that the server holds until release.
func (b *bench) startHeldCall(t *testing.T, w upstream.SessionRequest) (results chan error, release chan struct{}) {
	t.Helper()
	release, results = make(chan struct{}), make(chan error, 1)
	b.server.update(func() { b.server.hold = release })
	for len(b.server.arrived) > 0 {
		<-b.server.arrived
	}
	go func() { results <- b.call(context.WithoutCancel(t.Context()), w) }()
	<-b.server.arrived
	b.server.update(func() { b.server.hold = nil })
	return results, release
}

func TestReview_EndsUnusedSessions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench, connectors.Connector){
		"rotated": func(b *bench, c connectors.Connector) {
			b.saveCredential(t, b.Tenant, c, nil, connectors.Secret{Token: "two"})
		},
		"revoked": func(b *bench, c connectors.Connector) {
			must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""))
			b.pool.InvalidateCredentials(b.Tenant, c.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, other := b.newSharedConnector(t), b.newSharedConnector(t)
			must(t, b.call(t.Context(), b.newRequest(c)))
			must(t, b.call(t.Context(), b.newRequest(other)))
			b.pool.RecheckCredentials(b.Tenant, c.ID)
			change(b, c)
			b.pool.RecheckCredentials(b.Tenant, c.ID)
			b.server.wantDeleted(t, "secret-session-1")
			b.pool.RecheckCredentials(b.Tenant, other.ID)
			must(t, b.call(t.Context(), b.newRequest(other)))
			if n := b.server.openedSessions(t); n != 2 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestUse_RotatedCredentialAbortsRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	results, _ := b.startHeldCall(t, b.newRequest(c))
	b.saveCredential(t, b.Tenant, c, nil, connectors.Secret{Token: "two"})
	must(t, b.call(t.Context(), b.newRequest(c)))
	if _, ok := errors.AsType[*mcp.Error](<-results); !ok {
		t.Error("it went on")
	}
	b.server.wantDeleted(t, "secret-session-1")
}

func TestUse_RefreshedTokenLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, _, _ := newMachineConnector(t, b)
	results, release := b.startHeldCall(t, b.newRequest(c))
	u, err := b.tokens.Resolve(t.Context(), b.Tenant, c, credentials.Account{})
	must(t, err)
	_, err = b.tokens.ForceRefresh(t.Context(), b.Tenant, c, u.ID, u.Version)
	must(t, err)
	b.pool.InvalidateCredentials(b.Tenant, c.ID)
	must(t, b.call(t.Context(), b.newRequest(c)))
	close(release)
	must(t, <-results)
	b.server.wantDeleted(t, "secret-session-1")
	if n := b.server.openedSessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestUse_RevokedCredentialEndsSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	must(t, b.call(t.Context(), b.newRequest(c)))
	must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""))
	b.pool.InvalidateCredentials(b.Tenant, c.ID)
	if err := b.call(t.Context(), b.newRequest(c)); !fault.Is(err, fault.Conflict) {
		t.Errorf("err = %v", err)
	}
	b.server.wantDeleted(t, "secret-session-1")
}

func TestEnd_EndsOnlyMatchingSessions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(*bench, connectors.Connector, connectors.CredentialID)
		left int // sessions of the other connector
	}{
		"credential": {func(b *bench, _ connectors.Connector, id connectors.CredentialID) { b.pool.EndCredential(b.Tenant, id) }, 1},
		"connector":  {func(b *bench, c connectors.Connector, _ connectors.CredentialID) { b.pool.EndConnector(b.Tenant, c.ID) }, 1},
		"left connector": {func(b *bench, c connectors.Connector, _ connectors.CredentialID) {
			b.pool.RetireConnector(b.Tenant, c.ID)
		}, 1},
		"tenant": {func(b *bench, _ connectors.Connector, _ connectors.CredentialID) { b.pool.EndTenant(b.Tenant) }, 0},
		"another tenant": {func(b *bench, c connectors.Connector, id connectors.CredentialID) {
			b.pool.EndTenant(b.Other)
			b.pool.EndConnector(b.Other, c.ID)
			b.pool.RetireConnector(b.Other, c.ID)
			b.pool.EndCredential(b.Other, id)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, other := b.newSharedConnector(t), b.newSharedConnector(t)
			must(t, b.call(t.Context(), b.newRequest(c)))
			must(t, b.call(t.Context(), b.newRequest(other)))
			cred, _, err := b.St.Vault(b.Tenant).Secret(t.Context(), c.ID, nil)
			must(t, err)
			tc.end(b, c, cred.ID)
			must(t, b.call(t.Context(), b.newRequest(c)))
			must(t, b.call(t.Context(), b.newRequest(other)))
			if n := b.server.openedSessions(t); n != 4-tc.left {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestRetireConnector_WaitsForLastUse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	results, release := b.startHeldCall(t, b.newRequest(c))
	b.pool.RetireConnector(b.Tenant, c.ID)
	close(release)
	must(t, <-results)
	must(t, b.call(t.Context(), b.newRequest(c)))
	if n := b.server.openedSessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestUse_SafeUseRetriesAbortedSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	w := b.newRequest(c)
	w.Retryable = true
	results, _ := b.startHeldCall(t, w)
	b.pool.EndConnector(b.Tenant, c.ID)
	must(t, <-results)
	if n := b.server.openedSessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestUse_NewSettingsEndAllSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newConnector(t, b.Tenant, perAgent)
	one, two := b.Agent(t), b.Agent(t)
	old := c
	for _, a := range []connectors.Agent{one, two} {
		b.saveCredential(t, b.Tenant, c, &a.ID, connectors.Secret{Token: "token"})
		must(t, b.call(t.Context(), upstream.SessionRequest{Tenant: b.Tenant, Connector: c, Account: credentials.Account{Agent: &a.ID}}))
	}
	c.Version++
	must(t, b.call(t.Context(), upstream.SessionRequest{Tenant: b.Tenant, Connector: c, Account: credentials.Account{Agent: &one.ID}}))
	b.server.wantDeleted(t, "secret-session-1", "secret-session-2")
	err := b.call(t.Context(), upstream.SessionRequest{Tenant: b.Tenant, Connector: old, Account: credentials.Account{Agent: &one.ID}})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("with settings from before: %v", err)
	}
}

func TestUse_LearntEraLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	results, release := b.startHeldCall(t, b.newRequest(c))
	c.Era = string(mcp.EraModern)
	must(t, b.call(t.Context(), b.newRequest(c)))
	close(release)
	must(t, <-results)
	b.server.wantDeleted(t, "secret-session-1")
}

// A view from before a connector's first sync has no era.
func TestUse_LearntEraOfTheSessionKeepsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	for _, era := range []string{"", c.Era, "", c.Era} {
		c.Era = era
		must(t, b.call(t.Context(), b.newRequest(c)))
	}
	if n := b.server.openedSessions(t); n != 1 {
		t.Errorf("%d sessions were opened", n)
	}
}

func TestCapacity_EvictsLongestIdle(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]func(*upstream.Options){
		"in all":   func(o *upstream.Options) { o.MaxSessions = 2 },
		"a tenant": func(o *upstream.Options) { o.MaxPerTenant = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, bound)
			one, two, three := b.newRequest(b.newSharedConnector(t)), b.newRequest(b.newSharedConnector(t)), b.newRequest(b.newSharedConnector(t))
			must(t, b.call(t.Context(), one))
			must(t, b.call(t.Context(), two))
			must(t, b.call(t.Context(), one))
			must(t, b.call(t.Context(), three))
			b.server.wantDeleted(t, "secret-session-2")
			first, releaseFirst := b.startHeldCall(t, one)
			second, releaseSecond := b.startHeldCall(t, three)
			err := b.call(t.Context(), two)
			if !fault.Is(err, fault.Unavailable) || fault.As(err).Code != "too_many_sessions" {
				t.Errorf("all busy: %v", err)
			}
			close(releaseFirst)
			must(t, <-first)
			must(t, b.call(t.Context(), two))
			close(releaseSecond)
			must(t, <-second)
		})
	}
}

func TestCapacity_OtherTenantsKeepSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *upstream.Options) { o.MaxPerTenant = 1 })
	theirs := b.newConnector(t, b.Other)
	b.saveCredential(t, b.Other, theirs, nil, connectors.Secret{Token: "theirs"})
	must(t, b.call(t.Context(), upstream.SessionRequest{Tenant: b.Other, Connector: theirs}))
	must(t, b.call(t.Context(), b.newRequest(b.newSharedConnector(t))))
	must(t, b.call(t.Context(), b.newRequest(b.newSharedConnector(t))))
	b.server.wantDeleted(t, "secret-session-2")
}

func TestStop_EndsAllByDeadline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	idle, polite, stubborn := b.newRequest(b.newSharedConnector(t)), b.newRequest(b.newSharedConnector(t)), b.newRequest(b.newSharedConnector(t))
	must(t, b.call(t.Context(), idle))
	results, release := b.startHeldCall(t, polite)
	aborted, _ := b.startHeldCall(t, stubborn)
	stopCtx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		b.pool.Stop(stopCtx)
	}()
	b.server.wantDeleted(t, "secret-session-1")
	if err := b.call(t.Context(), idle); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after Stop: %v", err)
	}
	close(release)
	must(t, <-results)
	cancel()
	if err := <-aborted; err == nil {
		t.Error("it was not cut off")
	}
	<-stopped
	b.server.wantDeleted(t, "secret-session-2", "secret-session-3")
}

// poolGoroutines are the stacks of the pool and its sessions.
func poolGoroutines() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var found []string
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(stack, "internal/toolcall/upstream.(*Pool)") || strings.Contains(stack, "internal/mcp.") {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

func TestStop_LeavesNoGoroutines(t *testing.T) {
	b := newBench(t)
	c, other := b.newSharedConnector(t), b.newSharedConnector(t)
	must(t, b.pool.Use(t.Context(), b.newRequest(c), func(*mcp.Session) error {
		if poolGoroutines() == "" {
			t.Error("the pool is not known by its stacks any more")
		}
		return nil
	}))
	for range 50 {
		must(t, b.call(t.Context(), b.newRequest(c)))
		must(t, b.call(t.Context(), b.newRequest(other)))
		b.pool.EndConnector(b.Tenant, c.ID)
	}
	b.pool.Stop(t.Context())
	poll, timeout := time.NewTicker(5*time.Millisecond), time.After(time.Minute) // closed sessions may still be returning
	defer poll.Stop()
	for poolGoroutines() != "" {
		select {
		case <-poll.C:
		case <-timeout:
			t.Fatalf("left behind:\n%s", poolGoroutines())
		}
	}
}
