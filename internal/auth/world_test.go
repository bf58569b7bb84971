package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// somewhere is where a test's person signs in.
var somewhere = auth.Browser{UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", Address: "192.0.2.7"}

const password = secret.Text("correct horse battery")

// cheap makes tests fast; what it costs is no part of what they show.
var cheap = argon2id.Params{Memory: 64, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a fixture with the service over it.
type world struct {
	*fixture.World
	auth  *auth.Service
	clock *clock
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := fixture.New(t)
	c := &clock{now: time.Now()}
	return world{World: w, clock: c, auth: auth.New(auth.Options{Store: w.St, Now: c.Now, PasswordCost: &cheap})}
}

// person makes a member with a password.
func (w world) person(t *testing.T, role connectors.Role) connectors.Member {
	t.Helper()
	hash, err := w.auth.HashPassword(t.Context(), "ada@example.com", password)
	if err != nil {
		t.Fatal(err)
	}
	return w.Member(t, role, func(m *store.NewMember) { m.PasswordHash = hash })
}

// owner is an actor that may do everything in w.Tenant.
func (w world) owner(t *testing.T) auth.Actor {
	t.Helper()
	tenant, err := w.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return auth.Operator(tenant)
}

// browser keeps cookies between the requests of one person.
type browser struct {
	t      *testing.T
	w      world
	cookie *http.Cookie
}

// do runs f within a request of this browser.
func (b *browser) do(f func(ctx context.Context)) *httptest.ResponseRecorder {
	b.t.Helper()
	handler := b.w.auth.Sessions().LoadAndSave(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { f(r.Context()) }))
	req := httptest.NewRequestWithContext(b.t.Context(), http.MethodGet, "/", nil)
	if b.cookie != nil {
		req.AddCookie(b.cookie)
	}
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, req)
	for _, c := range rec.Result().Cookies() {
		b.cookie = c
	}
	return rec
}

// who is the signed-in person of this browser.
func (b *browser) who() (a auth.Actor, err error) {
	b.do(func(ctx context.Context) { a, err = b.w.auth.FromSession(ctx) })
	return a, err
}

func (w world) signedIn(t *testing.T, user connectors.UserID) *browser {
	t.Helper()
	b := &browser{t: t, w: w}
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSession(ctx, user, somewhere); err != nil {
			t.Errorf("start session: %v", err)
		}
	})
	return b
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("error %v, want kind %v", err, kind)
	}
}
