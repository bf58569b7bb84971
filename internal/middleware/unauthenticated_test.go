package middleware_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/middleware"
)

// limitTest is a handler that knows one key, behind a limit of two requests per second and a test clock.
type limitTest struct {
	http.Handler
	now     time.Time
	refused int
	asked   int // number of key look-ups
}

func newLimitTest(t *testing.T, trusted ...netip.Prefix) *limitTest {
	t.Helper()
	g := &limitTest{now: time.Now()}
	refuse := func(w http.ResponseWriter, _ *http.Request, err error) {
		status := map[fault.Kind]int{fault.RateLimited: http.StatusTooManyRequests, fault.Unauthenticated: http.StatusUnauthorized}[fault.As(err).Kind]
		if after := fault.As(err).RetryAfter; after > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(after))
		}
		w.WriteHeader(status)
	}
	identify := func(r *http.Request) (context.Context, []slog.Attr, error) {
		g.asked++
		if r.Header.Get("Authorization") != "Bearer right" {
			return nil, nil, fault.Errorf(fault.Unauthenticated, "Who are you?")
		}
		return r.Context(), []slog.Attr{slog.String("actor_id", "1")}, nil
	}
	strangers := middleware.NewUnauthenticatedLimit(2, refuse, func() { g.refused++ }, func() time.Time { return g.now })
	strangers.LimitAlways(func(path string) bool { return path == "/public" })
	g.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, around := range []middleware.Middleware{
		middleware.Authenticate(identify, refuse), strangers.Middleware, middleware.Log(slog.New(slog.DiscardHandler)), middleware.ClientAddress(trusted),
	} {
		g.Handler = around(g.Handler)
	}
	return g
}

func (g *limitTest) send(from, key string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(from), 1234).String()
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

// sendUntilRefused returns how many requests were accepted.
func (g *limitTest) sendUntilRefused(from string, header ...string) int {
	for i := range 1000 {
		if g.send(from, fmt.Sprintf("wrong %d", i), header...).Code == http.StatusTooManyRequests {
			return i
		}
	}
	return -1
}

func TestUnauthenticatedLimit_PerAddress(t *testing.T) {
	t.Parallel()
	g := newLimitTest(t)
	if n := g.sendUntilRefused("192.0.2.1"); n != 8 {
		t.Errorf("%d are answered at once, and four seconds' worth are 8", n)
	}
	asked := g.asked
	refused := g.send("192.0.2.1", "")
	if refused.Code != http.StatusTooManyRequests || refused.Header().Get("Retry-After") != "1" || g.asked != asked {
		t.Errorf("%d, Retry-After %q, and somebody was looked up %d times", refused.Code, refused.Header().Get("Retry-After"), g.asked-asked)
	}
	if g.send("192.0.2.2", "").Code != http.StatusUnauthorized {
		t.Error("another address is refused, too")
	}
	g.now = g.now.Add(time.Second)
	if n := g.sendUntilRefused("192.0.2.1"); n != 2 {
		t.Errorf("a second later %d are answered", n)
	}
	if g.refused != 3 {
		t.Errorf("%d were counted as refused", g.refused)
	}
}

// Public documents read no caller, so that a known credential is no reason to pass.
func TestUnauthenticatedLimit_CountsPublicPathsAlways(t *testing.T) {
	t.Parallel()
	g := newLimitTest(t)
	if g.send("192.0.2.1", "right").Code != http.StatusOK {
		t.Fatal("the right key is refused")
	}
	refused := 0
	for range 50 {
		r := httptest.NewRequest(http.MethodGet, "/public", nil)
		r.RemoteAddr = "192.0.2.1:1234"
		r.Header.Set("Authorization", "Bearer right")
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		if w.Code == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 20 {
		t.Errorf("%d of 50 requests are refused", refused)
	}
}

// A company has one address. Guessing keys there must not lock out signed-in people.
func TestUnauthenticatedLimit_PassesKnownCredentials(t *testing.T) {
	t.Parallel()
	g := newLimitTest(t)
	if g.send("192.0.2.1", "right").Code != http.StatusOK {
		t.Fatal("the right key is refused")
	}
	g.sendUntilRefused("192.0.2.1")
	for range 50 {
		if code := g.send("192.0.2.1", "right").Code; code != http.StatusOK {
			t.Fatalf("the right key is answered %d", code)
		}
	}
	if g.send("192.0.2.1", "right", "Cookie", "a=b").Code != http.StatusTooManyRequests {
		t.Error("what was never identified counts as known")
	}
	g.now = g.now.Add(11 * time.Minute) // the exemption and the refusals have expired
	g.sendUntilRefused("192.0.2.1")
	if g.send("192.0.2.1", "right").Code != http.StatusTooManyRequests {
		t.Error("a key is known for ever")
	}
}

func TestClientNetwork_IPv6Prefix(t *testing.T) {
	t.Parallel()
	g := newLimitTest(t)
	g.sendUntilRefused("2001:db8:1:2::1")
	if g.send("2001:db8:1:2:ffff::9", "").Code != http.StatusTooManyRequests {
		t.Error("another address of the same network may ask")
	}
	if g.send("2001:db8:1:3::1", "").Code != http.StatusUnauthorized {
		t.Error("another network is refused, too")
	}
}

func TestClientAddress_BehindTrustedProxy(t *testing.T) {
	t.Parallel()
	g := newLimitTest(t, netip.MustParsePrefix("10.0.0.0/8"))
	g.sendUntilRefused("10.0.0.1", "X-Forwarded-For", "192.0.2.1")
	if g.send("10.0.0.1", "", "X-Forwarded-For", "192.0.2.2").Code != http.StatusUnauthorized {
		t.Error("another address behind the proxy is refused, too")
	}
	if g.send("10.0.0.1", "", "X-Forwarded-For", "192.0.2.1").Code != http.StatusTooManyRequests {
		t.Error("the address may ask")
	}
	g.sendUntilRefused("198.51.100.7", "X-Forwarded-For", "192.0.2.9") // an untrusted header
	if g.send("198.51.100.7", "", "X-Forwarded-For", "192.0.2.10").Code != http.StatusTooManyRequests {
		t.Error("whoever is no proxy chooses its address")
	}
}

func TestUnauthenticatedLimit_Disabled(t *testing.T) {
	t.Parallel()
	if middleware.NewUnauthenticatedLimit(0, nil, nil, nil) != nil {
		t.Error("there is one")
	}
	var none *middleware.UnauthenticatedLimit
	h := http.NotFoundHandler()
	if got := none.Middleware(h); got == nil {
		t.Error("nothing is served")
	}
}

// TestMarkAuthenticated_RefundsRequest renews tokens from one address, more often than the limit.
func TestMarkAuthenticated_RefundsRequest(t *testing.T) {
	t.Parallel()
	now := time.Now()
	refuse := func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusTooManyRequests) }
	var h http.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/good" {
			middleware.MarkAuthenticated(r.Context())
		}
	})
	strangers := middleware.NewUnauthenticatedLimit(2, refuse, func() {}, func() time.Time { return now })
	for _, around := range []middleware.Middleware{strangers.Middleware, middleware.Log(slog.New(slog.DiscardHandler)), middleware.ClientAddress(nil)} {
		h = around(h)
	}
	answered := func(path string) (n int) {
		for ; n < 100; n++ {
			r := httptest.NewRequest(http.MethodPost, path, nil)
			r.RemoteAddr = "192.0.2.1:1"
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != http.StatusOK {
				break
			}
		}
		return n
	}
	if n := answered("/good"); n != 100 {
		t.Errorf("who proves themselves is refused after %d requests", n)
	}
	if n := answered("/bad"); n != 8 {
		t.Errorf("who does not asks %d times", n)
	}
}
