package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
	"patchbay/internal/toolcall/upstream"
)

func TestUse_ConcurrentUsesShareOneSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	var users sync.WaitGroup
	for range 100 {
		users.Go(func() {
			if err := b.call(t.Context(), b.newRequest(c)); err != nil {
				t.Error(err)
			}
		})
	}
	users.Wait()
	if n := b.server.openedSessions(t); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestUse_OpeningOutlivesCancelledUse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := b.pool.Use(ctx, b.newRequest(c), func(*mcp.Session) error { cancel(); return ctx.Err() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	must(t, b.call(t.Context(), b.newRequest(c)))
	if n := b.server.openedSessions(t); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestUse_SessionsAreNotSharedAcrossCredentials(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ours, theirs, own := b.newSharedConnector(t), b.newConnector(t, b.Other), b.newConnector(t, b.Tenant, perAgent)
	b.saveCredential(t, b.Other, theirs, nil, connectors.Secret{Token: "theirs"})
	one, two := b.Agent(t), b.Agent(t)
	b.saveCredential(t, b.Tenant, own, &one.ID, connectors.Secret{Token: "of one"})
	b.saveCredential(t, b.Tenant, own, &two.ID, connectors.Secret{Token: "of two"})
	wants := []upstream.SessionRequest{
		b.newRequest(ours),
		{Tenant: b.Other, Connector: theirs},
		{Tenant: b.Tenant, Connector: own, Account: credentials.Account{Agent: &one.ID}},
		{Tenant: b.Tenant, Connector: own, Account: credentials.Account{Agent: &two.ID}},
		b.newRequest(b.newConnector(t, b.Tenant, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })),
	}
	for range 2 {
		for _, w := range wants {
			must(t, b.call(t.Context(), w))
		}
	}
	if n := b.server.openedSessions(t); n != len(wants) {
		t.Errorf("%d sessions", n)
	}
	err := b.call(t.Context(), b.newRequest(own))
	if !fault.Is(err, fault.Conflict) || fault.As(err).Type != "credential-required" {
		t.Errorf("no agent: %v", err)
	}
}

func TestUse_SafeUseRetriesLostSession(t *testing.T) {
	t.Parallel()
	for _, safe := range []bool{true, false} {
		t.Run(fmt.Sprintf("safe %v", safe), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			w := b.newRequest(b.newSharedConnector(t))
			w.Retryable = safe
			must(t, b.call(t.Context(), w))
			b.server.update(func() {
				b.server.refuse = func(id string) (int, string) {
					if id == "secret-session-1" {
						return http.StatusBadRequest, "Bad Request: no valid session"
					}
					return 0, ""
				}
			})
			if err := b.call(t.Context(), w); (err == nil) != safe {
				t.Errorf("err = %v", err)
			}
			must(t, b.call(t.Context(), w))
			if n := b.server.openedSessions(t); n != 2 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

// The server restarts during a call and forgets its sessions.
func TestUse_SafeUseRetriesBrokenConnection(t *testing.T) {
	t.Parallel()
	for _, safe := range []bool{true, false} {
		t.Run(fmt.Sprintf("safe %v", safe), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			w := b.newRequest(b.newSharedConnector(t))
			w.Retryable = safe
			must(t, b.call(t.Context(), w))
			var aborted atomic.Bool
			b.server.update(func() {
				b.server.refuse = func(id string) (int, string) {
					switch {
					case id != "secret-session-1":
						return 0, ""
					case aborted.CompareAndSwap(false, true):
						panic(http.ErrAbortHandler)
					default:
						return http.StatusNotFound, "restarted"
					}
				}
			})
			err := b.call(t.Context(), w)
			if failure, ok := errors.AsType[*mcp.Error](err); safe && err != nil || !safe && (!ok || !failure.Interrupted()) {
				t.Errorf("err = %v", err)
			}
			if n := len(b.server.arrived); safe && n != 4 || !safe && n != 2 {
				t.Errorf("%d requests", n)
			}
			must(t, b.call(t.Context(), w))
			if n := b.server.openedSessions(t); n != 2 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestUse_RetriesUnknownSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.newRequest(b.newSharedConnector(t))
	must(t, b.call(t.Context(), w))
	b.server.update(func() {
		b.server.refuse = func(id string) (int, string) {
			if id == "secret-session-1" {
				return http.StatusNotFound, "restarted"
			}
			return 0, ""
		}
	})
	must(t, b.call(t.Context(), w))
	if n := b.server.openedSessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestUse_FailedOpeningIsRetried(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.newSharedConnector(t)
	unreachable := c
	unreachable.URL = "http://127.0.0.1:1/mcp"
	c.Auth.Type, unreachable.Auth.Type = connectors.AuthNone, connectors.AuthNone
	if e, ok := errors.AsType[*mcp.Error](b.call(t.Context(), b.newRequest(unreachable))); !ok || e.Phase != mcp.PhaseConnect {
		t.Errorf("err = %v", e)
	}
	must(t, b.call(t.Context(), b.newRequest(c)))
}

// newMachineConnector is a connector with client credentials and their authorization server.
func newMachineConnector(t testing.TB, b *bench) (connectors.Connector, *oauthtest.Server, *oauthtest.Resource) {
	t.Helper()
	authServer := oauthtest.Start(t, oauthtest.Behaviour{})
	resource := authServer.Protect(t, oauthtest.ResourceBehaviour{Next: b.server})
	c := b.newConnector(t, b.Tenant, func(d *connectors.Draft) { d.URL, d.Auth.Type = resource.URL, connectors.AuthClientCredentials })
	authServer.AddClient("machine", "its secret", nil)
	b.saveCredential(t, b.Tenant, c, nil, connectors.Secret{ClientID: "machine", ClientSecret: secret.Text("its secret")})
	return c, authServer, resource
}

func TestUse_RefreshesRefusedToken(t *testing.T) {
	t.Parallel()
	for _, safe := range []bool{true, false} {
		t.Run(fmt.Sprintf("safe %v", safe), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, authServer, _ := newMachineConnector(t, b)
			w := b.newRequest(c)
			w.Retryable = safe
			must(t, b.call(t.Context(), w))
			authServer.ExpireAccess()
			must(t, b.call(t.Context(), w))
			must(t, b.call(t.Context(), w))
			if n := b.server.openedSessions(t); n != 2 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestUse_RefreshesTokenRefusedAtOpening(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, authServer, _ := newMachineConnector(t, b)
	must(t, b.call(t.Context(), b.newRequest(c)))
	b.pool.EndTenant(b.Tenant)
	authServer.ExpireAccess()
	must(t, b.call(t.Context(), b.newRequest(c)))
}

func TestUse_RefreshesOnceIfAllTokensAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, authServer, resource := newMachineConnector(t, b)
	must(t, b.call(t.Context(), b.newRequest(c)))
	before := authServer.Count(oauthtest.ClientCredentials)
	resource.Set(func(r *oauthtest.ResourceBehaviour) { r.RefuseAll = true })
	for i := range 4 {
		w := b.newRequest(c)
		w.Retryable = i%2 == 0
		err := b.call(t.Context(), w)
		if e, ok := errors.AsType[*mcp.Error](err); !ok || e.HTTPStatus != http.StatusUnauthorized {
			t.Fatalf("err = %v", err)
		}
	}
	if n := authServer.Count(oauthtest.ClientCredentials) - before; n != 1 {
		t.Errorf("%d tokens", n)
	}
	resource.Set(func(r *oauthtest.ResourceBehaviour) { r.RefuseAll = false })
	must(t, b.call(t.Context(), b.newRequest(c)))
	authServer.ExpireAccess() // the forced token has served, so it may be forced again
	w := b.newRequest(c)
	w.Retryable = true
	must(t, b.call(t.Context(), w))
}

func TestPool_PrintsNoSecrets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.newRequest(b.newSharedConnector(t))
	must(t, b.pool.Use(t.Context(), w, func(s *mcp.Session) error {
		if shown := fmt.Sprintf("%+v %#v %v", s, struct{ S *mcp.Session }{s}, b.pool); strings.Contains(shown, "secret-session") || strings.Contains(shown, "Bearer") {
			t.Errorf("shown: %s", shown)
		}
		return nil
	}))
	b.server.update(func() {
		b.server.refuse = func(id string) (int, string) { return http.StatusBadRequest, "no session " + id }
	})
	if err := b.call(t.Context(), w); err == nil || strings.Contains(fmt.Sprintf("%+v", err), "secret-session") {
		t.Errorf("err = %v", err)
	}
}

func TestCredentialCache_TrustedWhileListening(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.newRequest(b.newSharedConnector(t))
	wantQueries := func(want int64) {
		t.Helper()
		before := b.Queries()
		must(t, b.call(t.Context(), w))
		if n := b.Queries() - before; n != want {
			t.Errorf("%d statements, want %d", n, want)
		}
	}
	wantQueries(1)
	wantQueries(0)
	b.clock.advance(2 * time.Second)
	wantQueries(1) // not listening
	b.pool.SetListening(true)
	wantQueries(1)
	b.clock.advance(time.Hour)
	wantQueries(0)
	b.pool.InvalidateCredentials(b.Tenant, b.newSharedConnector(t).ID) // another connector
	wantQueries(0)
	b.pool.InvalidateCredentials(b.Tenant, w.Connector.ID)
	wantQueries(1)
	b.pool.SetListening(false)
	wantQueries(1)
}

func TestUse_CapabilitiesSeparateSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.newRequest(b.newSharedConnector(t))
	must(t, b.call(t.Context(), w))
	w.Capabilities = `{"elicitation":{}}`
	must(t, b.call(t.Context(), w))
	must(t, b.call(t.Context(), w))
	if n := b.server.openedSessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestUse_SlotIsHeldUntilSessionCloses(t *testing.T) {
	t.Parallel()
	taken, released := 0, make(chan struct{}, 1)
	b := newBench(t, func(o *upstream.Options) {
		o.AcquireSlot = func(context.Context, connectors.TenantID, connectors.Connector, func(bool)) (func(), error) {
			taken++
			return func() { released <- struct{}{} }, nil
		}
	})
	w := b.newRequest(b.newSharedConnector(t))
	must(t, b.call(t.Context(), w))
	must(t, b.call(t.Context(), w))
	if len(released) != 0 || taken != 1 {
		t.Errorf("taken %d times, given back: %v", taken, len(released) > 0)
	}
	b.pool.EndTenant(b.Tenant)
	<-released
}

// newSlotBench has slots as programs have them: perTenant of each tenant, and total of all.
func newSlotBench(t *testing.T, perTenant, total int) *bench {
	t.Helper()
	gate := limit.NewGate[connectors.TenantID](perTenant, total)
	return newBench(t, func(o *upstream.Options) {
		o.AcquireSlot = func(ctx context.Context, tenant connectors.TenantID, _ connectors.Connector, full func(bool)) (func(), error) {
			if !gate.TryAcquire(tenant) {
				full(gate.IsKeyFull(tenant))
				if err := gate.Acquire(ctx, tenant); err != nil {
					return nil, err
				}
			}
			return func() { gate.Release(tenant) }, nil
		}
	})
}

// programOf is a program that counts sessions as the server does.
func (b *bench) programOf(t *testing.T, tenant connectors.TenantID) upstream.SessionRequest {
	t.Helper()
	c := b.newConnector(t, tenant, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })
	c.Transport = connectors.TransportStdio
	agent := b.AgentIn(t, tenant)
	return upstream.SessionRequest{Tenant: tenant, Connector: c, Account: credentials.Account{Agent: &agent.ID}}
}

func TestUse_FullSlotsEndIdlePrograms(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		perTenant, total int
		want             int // sessions, after a call of the other tenant's program again
	}{
		"the tenant's bound ends its own":        {perTenant: 1, total: 4, want: 4},
		"the bound of all ends another tenant's": {perTenant: 2, total: 2, want: 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSlotBench(t, tc.perTenant, tc.total)
			other := b.programOf(t, b.Other)
			must(t, b.call(t.Context(), other)) // the longest idle one
			for range 3 {
				must(t, b.call(t.Context(), b.programOf(t, b.Tenant)))
			}
			must(t, b.call(t.Context(), other))
			if n := b.server.openedSessions(t); n != tc.want {
				t.Errorf("%d sessions, not %d", n, tc.want)
			}
		})
	}
}

func TestUse_ProgramThatBecomesIdleEndsForOneThatWaits(t *testing.T) {
	t.Parallel()
	b := newSlotBench(t, 1, 4)
	hold := make(chan struct{})
	b.server.update(func() { b.server.hold = hold })
	busy, waiting := b.programOf(t, b.Tenant), b.programOf(t, b.Tenant)
	results := make(chan error, 2)
	go func() { results <- b.call(t.Context(), busy) }()
	<-b.server.arrived
	go func() { results <- b.call(t.Context(), waiting) }()
	for b.pool.Sessions() < 2 {
		runtime.Gosched()
	}
	close(hold)
	must(t, <-results)
	must(t, <-results)
}

func TestUse_SessionPerAgent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		perAgent, stateless bool
		want                int // sessions of three agents that call twice
	}{
		"a server with sessions":           {perAgent: true, want: 3},
		"a server without sessions":        {perAgent: true, stateless: true, want: 1},
		"a server with sessions, when off": {want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.server.update(func() { b.server.stateless = tc.stateless })
			c := b.newConnector(t, b.Tenant, func(d *connectors.Draft) { d.SessionPerAgent = tc.perAgent })
			b.saveCredential(t, b.Tenant, c, nil, connectors.Secret{Token: "one"})
			w := b.newRequest(c)
			for range 3 {
				agent := b.Agent(t)
				w.Account.Agent = &agent.ID
				must(t, b.call(t.Context(), w))
				must(t, b.call(t.Context(), w))
			}
			if n := b.server.openedSessions(t); n != tc.want {
				t.Errorf("%d sessions, not %d", n, tc.want)
			}
		})
	}
}
