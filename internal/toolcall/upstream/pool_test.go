package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
	"patchbay/internal/toolcall/upstream"
)

func TestAHundredUsersShareOneSessionAndOneOpening(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.shared(t)
	var users sync.WaitGroup
	for range 100 {
		users.Go(func() {
			if err := b.call(t.Context(), b.want(c)); err != nil {
				t.Error(err)
			}
		})
	}
	users.Wait()
	if n := b.server.sessions(t); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestAnOpeningGoesOnWhereTheFirstOneLeaves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.shared(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := b.pool.Use(ctx, b.want(c), func(*mcp.Session) error { cancel(); return ctx.Err() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	must(t, b.call(t.Context(), b.want(c)))
	if n := b.server.sessions(t); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestNobodyGetsTheSessionOfAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ours, theirs, own := b.shared(t), b.connector(t, b.Other), b.connector(t, b.Tenant, perAgent)
	b.keep(t, b.Other, theirs, nil, connectors.Secret{Token: "theirs"})
	one, two := b.Agent(t), b.Agent(t)
	b.keep(t, b.Tenant, own, &one.ID, connectors.Secret{Token: "of one"})
	b.keep(t, b.Tenant, own, &two.ID, connectors.Secret{Token: "of two"})
	wants := []upstream.Want{
		b.want(ours),
		{Tenant: b.Other, Connector: theirs},
		{Tenant: b.Tenant, Connector: own, Agent: &one.ID},
		{Tenant: b.Tenant, Connector: own, Agent: &two.ID},
		b.want(b.connector(t, b.Tenant, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })),
	}
	for range 2 {
		for _, w := range wants {
			must(t, b.call(t.Context(), w))
		}
	}
	if n := b.server.sessions(t); n != len(wants) {
		t.Errorf("%d sessions", n)
	}
	err := b.call(t.Context(), b.want(own))
	if !fault.Is(err, fault.Conflict) || fault.As(err).Type != "credential-required" {
		t.Errorf("no agent: %v", err)
	}
}

func TestASafeUseOfALostSessionRunsAgain(t *testing.T) {
	t.Parallel()
	for _, safe := range []bool{true, false} {
		t.Run(fmt.Sprintf("safe %v", safe), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			w := b.want(b.shared(t))
			w.Safe = safe
			must(t, b.call(t.Context(), w))
			b.server.set(func() {
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
			if n := b.server.sessions(t); n != 2 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

// The server goes away while it answers, and has forgotten its sessions when it is back.
func TestASafeUseThatTheServerBrokeOffRunsAgain(t *testing.T) {
	t.Parallel()
	for _, safe := range []bool{true, false} {
		t.Run(fmt.Sprintf("safe %v", safe), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			w := b.want(b.shared(t))
			w.Safe = safe
			must(t, b.call(t.Context(), w))
			var cut atomic.Bool
			b.server.set(func() {
				b.server.refuse = func(id string) (int, string) {
					switch {
					case id != "secret-session-1":
						return 0, ""
					case cut.CompareAndSwap(false, true):
						panic(http.ErrAbortHandler)
					default:
						return http.StatusNotFound, "restarted"
					}
				}
			})
			err := b.call(t.Context(), w)
			if failure, ok := errors.AsType[*mcp.Error](err); safe && err != nil || !safe && (!ok || !failure.BrokenOff()) {
				t.Errorf("err = %v", err)
			}
			if n := len(b.server.arrived); safe && n != 4 || !safe && n != 2 {
				t.Errorf("%d requests", n)
			}
			must(t, b.call(t.Context(), w))
			if n := b.server.sessions(t); n != 2 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestAServerThatForgotItsSessionsNeverRanTheCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.want(b.shared(t))
	must(t, b.call(t.Context(), w))
	b.server.set(func() {
		b.server.refuse = func(id string) (int, string) {
			if id == "secret-session-1" {
				return http.StatusNotFound, "restarted"
			}
			return 0, ""
		}
	})
	must(t, b.call(t.Context(), w))
	if n := b.server.sessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestAFailedOpeningIsTriedAnewByTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.shared(t)
	away := c
	away.URL = "http://127.0.0.1:1/mcp"
	c.Auth.Type, away.Auth.Type = connectors.AuthNone, connectors.AuthNone
	if e, ok := errors.AsType[*mcp.Error](b.call(t.Context(), b.want(away))); !ok || e.Phase != mcp.PhaseConnect {
		t.Errorf("err = %v", e)
	}
	must(t, b.call(t.Context(), b.want(c)))
}

// machine is a connector whose tokens an authorization server gives, in front of the server.
func machine(t testing.TB, b *bench) (connectors.Connector, *oauthtest.Server, *oauthtest.Resource) {
	t.Helper()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	resource := as.Protect(t, oauthtest.ResourceBehaviour{Next: b.server})
	c := b.connector(t, b.Tenant, func(d *connectors.Draft) { d.URL, d.Auth.Type = resource.URL, connectors.AuthClientCredentials })
	as.AddClient("machine", "its secret", nil)
	b.keep(t, b.Tenant, c, nil, connectors.Secret{ClientID: "machine", ClientSecret: secret.Text("its secret")})
	return c, as, resource
}

func TestARefusedTokenIsRenewedAndAnyUseRunsAgain(t *testing.T) {
	t.Parallel()
	for _, safe := range []bool{true, false} {
		t.Run(fmt.Sprintf("safe %v", safe), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c, as, _ := machine(t, b)
			w := b.want(c)
			w.Safe = safe
			must(t, b.call(t.Context(), w))
			as.ExpireAccess()
			must(t, b.call(t.Context(), w))
			must(t, b.call(t.Context(), w))
			if n := b.server.sessions(t); n != 2 {
				t.Errorf("%d sessions", n)
			}
		})
	}
}

func TestATokenThatWasRefusedWhenTheSessionOpenedIsRenewedForAnyUse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, as, _ := machine(t, b)
	must(t, b.call(t.Context(), b.want(c)))
	b.pool.EndTenant(b.Tenant)
	as.ExpireAccess()
	must(t, b.call(t.Context(), b.want(c)))
}

func TestATokenIsRenewedOnceWhereTheServerRefusesAll(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, as, resource := machine(t, b)
	must(t, b.call(t.Context(), b.want(c)))
	before := as.Count(oauthtest.ClientCredentials)
	resource.Set(func(r *oauthtest.ResourceBehaviour) { r.RefuseAll = true })
	for i := range 4 {
		w := b.want(c)
		w.Safe = i%2 == 0
		err := b.call(t.Context(), w)
		if e, ok := errors.AsType[*mcp.Error](err); !ok || e.HTTPStatus != http.StatusUnauthorized {
			t.Fatalf("err = %v", err)
		}
	}
	if n := as.Count(oauthtest.ClientCredentials) - before; n != 1 {
		t.Errorf("%d tokens", n)
	}
	resource.Set(func(r *oauthtest.ResourceBehaviour) { r.RefuseAll = false })
	must(t, b.call(t.Context(), b.want(c)))
	as.ExpireAccess() // the token that was got by force has served: it may be renewed by force, too
	w := b.want(c)
	w.Safe = true
	must(t, b.call(t.Context(), w))
}

func TestNothingShowsAnIDOrAToken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.want(b.shared(t))
	must(t, b.pool.Use(t.Context(), w, func(s *mcp.Session) error {
		if shown := fmt.Sprintf("%+v %#v %v", s, struct{ S *mcp.Session }{s}, b.pool); strings.Contains(shown, "secret-session") || strings.Contains(shown, "Bearer") {
			t.Errorf("shown: %s", shown)
		}
		return nil
	}))
	b.server.set(func() {
		b.server.refuse = func(id string) (int, string) { return http.StatusBadRequest, "no session " + id }
	})
	if err := b.call(t.Context(), w); err == nil || strings.Contains(fmt.Sprintf("%+v", err), "secret-session") {
		t.Errorf("err = %v", err)
	}
}

func TestACredentialInMemoryIsTrustedAsLongAsSomebodyListens(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.want(b.shared(t))
	uses := func(want int64) {
		t.Helper()
		before := b.Queries()
		must(t, b.call(t.Context(), w))
		if n := b.Queries() - before; n != want {
			t.Errorf("%d statements, want %d", n, want)
		}
	}
	uses(1)
	uses(0)
	b.clock.pass(2 * time.Second)
	uses(1) // nobody listens
	b.pool.Hearing(true)
	uses(1)
	b.clock.pass(time.Hour)
	uses(0)
	b.pool.Forget(b.Tenant, b.shared(t).ID) // another's
	uses(0)
	b.pool.Forget(b.Tenant, w.Connector.ID)
	uses(1)
	b.pool.Hearing(false)
	uses(1)
}

func TestWhoeverAnswersMoreHasASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.want(b.shared(t))
	must(t, b.call(t.Context(), w))
	w.Capabilities = `{"elicitation":{}}`
	must(t, b.call(t.Context(), w))
	must(t, b.call(t.Context(), w))
	if n := b.server.sessions(t); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

func TestASeatIsKeptAsLongAsTheSession(t *testing.T) {
	t.Parallel()
	taken, free := 0, make(chan struct{}, 1)
	b := newBench(t, func(o *upstream.Options) {
		o.Seat = func(context.Context, connectors.TenantID, connectors.Connector) (func(), error) {
			taken++
			return func() { free <- struct{}{} }, nil
		}
	})
	w := b.want(b.shared(t))
	must(t, b.call(t.Context(), w))
	must(t, b.call(t.Context(), w))
	if len(free) != 0 || taken != 1 {
		t.Errorf("taken %d times, given back: %v", taken, len(free) > 0)
	}
	b.pool.EndTenant(b.Tenant)
	<-free
}
