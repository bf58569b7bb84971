package upstream_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/toolcall/upstream"
)

func TestAnUnusedSessionEndsAfterTenMinutes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := b.want(b.shared(t)), b.want(b.shared(t))
	must(t, b.call(t.Context(), one))
	b.clock.pass(5 * time.Minute)
	must(t, b.call(t.Context(), two))
	b.clock.pass(5 * time.Minute)
	b.pool.Sweep()
	b.server.wantDeleted(t, "secret-session-1")
	must(t, b.call(t.Context(), two))
	b.clock.pass(10*time.Minute - time.Millisecond)
	b.pool.Sweep()
	must(t, b.call(t.Context(), two))
	if n := b.server.sessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestTheSweeperWakesByItself(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *upstream.Options) { o.Idle, o.Now = time.Second, nil })
	must(t, b.call(t.Context(), b.want(b.shared(t))))
	b.server.wantDeleted(t, "secret-session-1")
}

func TestARotatedCredentialEndsItsSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.shared(t)
	must(t, b.call(t.Context(), b.want(c)))
	b.keep(t, b.Tenant, c, nil, connectors.Secret{Token: "two"})
	must(t, b.call(t.Context(), b.want(c)))
	b.server.wantDeleted(t, "secret-session-1")
	if n := b.server.sessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// under begins a call that the server holds, and returns what comes of it.
func (b *bench) under(t *testing.T, w upstream.Want) (came chan error, release chan struct{}) {
	t.Helper()
	release, came = make(chan struct{}), make(chan error, 1)
	b.server.set(func() { b.server.hold = release })
	for len(b.server.arrived) > 0 {
		<-b.server.arrived
	}
	go func() { came <- b.call(context.WithoutCancel(t.Context()), w) }()
	<-b.server.arrived
	b.server.set(func() { b.server.hold = nil })
	return came, release
}

func TestANoticeEndsSessionsThatNobodyUsesAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench, connectors.Connector){
		"rotated": func(b *bench, c connectors.Connector) { b.keep(t, b.Tenant, c, nil, connectors.Secret{Token: "two"}) },
		"revoked": func(b *bench, c connectors.Connector) {
			must(t, b.Door().DeleteCredential(t.Context(), c.ID, nil))
			b.pool.Forget(b.Tenant, c.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, other := b.shared(t), b.shared(t)
			must(t, b.call(t.Context(), b.want(c)))
			must(t, b.call(t.Context(), b.want(other)))
			b.pool.Review(b.Tenant, c.ID)
			change(b, c)
			b.pool.Review(b.Tenant, c.ID)
			b.server.wantDeleted(t, "secret-session-1")
			b.pool.Review(b.Tenant, other.ID)
			must(t, b.call(t.Context(), b.want(other)))
			if n := b.server.sessions(t); n != 2 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestARotatedCredentialEndsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.shared(t)
	came, _ := b.under(t, b.want(c))
	b.keep(t, b.Tenant, c, nil, connectors.Secret{Token: "two"})
	must(t, b.call(t.Context(), b.want(c)))
	if _, ok := errors.AsType[*mcp.Error](<-came); !ok {
		t.Error("it went on")
	}
	b.server.wantDeleted(t, "secret-session-1")
}

func TestARenewedTokenLetsWhatIsUnderWayEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, _, _ := machine(t, b)
	came, release := b.under(t, b.want(c))
	u, err := b.tokens.Of(t.Context(), b.Tenant, c, nil)
	must(t, err)
	_, err = b.tokens.Forced(t.Context(), b.Tenant, c, nil, u.Version)
	must(t, err)
	b.pool.Forget(b.Tenant, c.ID)
	must(t, b.call(t.Context(), b.want(c)))
	close(release)
	must(t, <-came)
	b.server.wantDeleted(t, "secret-session-1")
	if n := b.server.sessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestARevokedCredentialEndsItsSessionAtTheNextUse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.shared(t)
	must(t, b.call(t.Context(), b.want(c)))
	must(t, b.Door().DeleteCredential(t.Context(), c.ID, nil))
	b.pool.Forget(b.Tenant, c.ID)
	if err := b.call(t.Context(), b.want(c)); !fault.Is(err, fault.Conflict) {
		t.Errorf("err = %v", err)
	}
	b.server.wantDeleted(t, "secret-session-1")
}

func TestTheEndsEndWhatTheyNameAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(*bench, connectors.Connector, connectors.CredentialID)
		left int // of the tenant's other connector
	}{
		"credential": {func(b *bench, _ connectors.Connector, id connectors.CredentialID) { b.pool.EndCredential(b.Tenant, id) }, 1},
		"connector":  {func(b *bench, c connectors.Connector, _ connectors.CredentialID) { b.pool.EndConnector(b.Tenant, c.ID) }, 1},
		"left connector": {func(b *bench, c connectors.Connector, _ connectors.CredentialID) {
			b.pool.LeaveConnector(b.Tenant, c.ID)
		}, 1},
		"tenant": {func(b *bench, _ connectors.Connector, _ connectors.CredentialID) { b.pool.EndTenant(b.Tenant) }, 0},
		"another tenant": {func(b *bench, c connectors.Connector, id connectors.CredentialID) {
			b.pool.EndTenant(b.Other)
			b.pool.EndConnector(b.Other, c.ID)
			b.pool.LeaveConnector(b.Other, c.ID)
			b.pool.EndCredential(b.Other, id)
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, other := b.shared(t), b.shared(t)
			must(t, b.call(t.Context(), b.want(c)))
			must(t, b.call(t.Context(), b.want(other)))
			cred, _, err := b.St.Vault(b.Tenant).Secret(t.Context(), c.ID, nil)
			must(t, err)
			tc.end(b, c, cred.ID)
			must(t, b.call(t.Context(), b.want(c)))
			must(t, b.call(t.Context(), b.want(other)))
			if n := b.server.sessions(t); n != 4-tc.left {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestASessionThatIsLeftEndsWithItsLastUser(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.shared(t)
	came, release := b.under(t, b.want(c))
	b.pool.LeaveConnector(b.Tenant, c.ID)
	close(release)
	must(t, <-came)
	must(t, b.call(t.Context(), b.want(c)))
	if n := b.server.sessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestASafeUseThatWasCutOffRunsAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.shared(t)
	w := b.want(c)
	w.Safe = true
	came, _ := b.under(t, w)
	b.pool.EndConnector(b.Tenant, c.ID)
	must(t, <-came)
	if n := b.server.sessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestOtherSettingsOfAConnectorEndAllItsSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.Tenant, perAgent)
	one, two := b.Agent(t), b.Agent(t)
	was := c
	for _, a := range []connectors.Agent{one, two} {
		b.keep(t, b.Tenant, c, &a.ID, connectors.Secret{Token: "token"})
		must(t, b.call(t.Context(), upstream.Want{Tenant: b.Tenant, Connector: c, Agent: &a.ID}))
	}
	c.Version++
	must(t, b.call(t.Context(), upstream.Want{Tenant: b.Tenant, Connector: c, Agent: &one.ID}))
	b.server.wantDeleted(t, "secret-session-1", "secret-session-2")
	err := b.call(t.Context(), upstream.Want{Tenant: b.Tenant, Connector: was, Agent: &one.ID})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("with settings from before: %v", err)
	}
}

func TestALearntEraLetsWhatIsUnderWayEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.shared(t)
	came, release := b.under(t, b.want(c))
	c.Era = ""
	must(t, b.call(t.Context(), b.want(c)))
	close(release)
	must(t, <-came)
	b.server.wantDeleted(t, "secret-session-1")
}

func TestWithoutRoomTheLongestUnusedEnds(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]func(*upstream.Options){
		"in all":   func(o *upstream.Options) { o.Most = 2 },
		"a tenant": func(o *upstream.Options) { o.PerTenant = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, bound)
			one, two, three := b.want(b.shared(t)), b.want(b.shared(t)), b.want(b.shared(t))
			must(t, b.call(t.Context(), one))
			must(t, b.call(t.Context(), two))
			must(t, b.call(t.Context(), one))
			must(t, b.call(t.Context(), three))
			b.server.wantDeleted(t, "secret-session-2")
			first, releaseFirst := b.under(t, one)
			second, releaseSecond := b.under(t, three)
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

func TestOneTenantsCrowdLeavesTheOthersTheirSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *upstream.Options) { o.PerTenant = 1 })
	theirs := b.connector(t, b.Other)
	b.keep(t, b.Other, theirs, nil, connectors.Secret{Token: "theirs"})
	must(t, b.call(t.Context(), upstream.Want{Tenant: b.Other, Connector: theirs}))
	must(t, b.call(t.Context(), b.want(b.shared(t))))
	must(t, b.call(t.Context(), b.want(b.shared(t))))
	b.server.wantDeleted(t, "secret-session-2")
}

func TestStopEndsAllAndWaitsNoLongerThanItMay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	idle, polite, stubborn := b.want(b.shared(t)), b.want(b.shared(t)), b.want(b.shared(t))
	must(t, b.call(t.Context(), idle))
	ends, release := b.under(t, polite)
	cut, _ := b.under(t, stubborn)
	patience, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		b.pool.Stop(patience)
	}()
	b.server.wantDeleted(t, "secret-session-1")
	if err := b.call(t.Context(), idle); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after Stop: %v", err)
	}
	close(release)
	must(t, <-ends)
	cancel()
	if err := <-cut; err == nil {
		t.Error("it was not cut off")
	}
	<-stopped
	b.server.wantDeleted(t, "secret-session-2", "secret-session-3")
}

// ours are the goroutines of the pool and of sessions.
func ours() string {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	var left []string
	for _, stack := range strings.Split(string(all), "\n\n") {
		if strings.Contains(stack, "internal/toolcall/upstream.(*Pool)") || strings.Contains(stack, "internal/mcp.") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

func TestNoGoroutineStaysBehind(t *testing.T) {
	b := newBench(t)
	c, other := b.shared(t), b.shared(t)
	must(t, b.pool.Use(t.Context(), b.want(c), func(*mcp.Session) error {
		if ours() == "" {
			t.Error("the pool is not known by its stacks any more")
		}
		return nil
	}))
	for range 50 {
		must(t, b.call(t.Context(), b.want(c)))
		must(t, b.call(t.Context(), b.want(other)))
		b.pool.EndConnector(b.Tenant, c.ID)
	}
	b.pool.Stop(t.Context())
	again, late := time.NewTicker(5*time.Millisecond), time.After(time.Minute) // what has told its end may still be on its way out
	defer again.Stop()
	for ours() != "" {
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("left behind:\n%s", ours())
		}
	}
}
