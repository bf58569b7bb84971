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

// gatehouse is a handler that knows one key, behind a limit of two requests a second, and a clock.
type gatehouse struct {
	http.Handler
	now     time.Time
	refused int
	asked   int // how often somebody was looked up
}

func newGatehouse(t *testing.T, trusted ...netip.Prefix) *gatehouse {
	t.Helper()
	g := &gatehouse{now: time.Now()}
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
	strangers := middleware.NewStrangers(2, refuse, func() { g.refused++ }, func() time.Time { return g.now })
	g.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, around := range []middleware.Middleware{
		middleware.Identify(identify, refuse), strangers.Guard, middleware.Log(slog.New(slog.DiscardHandler)), middleware.ClientAddress(trusted),
	} {
		g.Handler = around(g.Handler)
	}
	return g
}

func (g *gatehouse) ask(from, key string, header ...string) *httptest.ResponseRecorder {
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

// drain asks until it is refused, and tells how often it was not.
func (g *gatehouse) drain(from string, header ...string) int {
	for i := range 1000 {
		if g.ask(from, fmt.Sprintf("wrong %d", i), header...).Code == http.StatusTooManyRequests {
			return i
		}
	}
	return -1
}

func TestAnAddressThatIsNotSignedInMayAskSoOften(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	if n := g.drain("192.0.2.1"); n != 8 {
		t.Errorf("%d are answered at once, and four seconds' worth are 8", n)
	}
	asked := g.asked
	refused := g.ask("192.0.2.1", "")
	if refused.Code != http.StatusTooManyRequests || refused.Header().Get("Retry-After") != "1" || g.asked != asked {
		t.Errorf("%d, Retry-After %q, and somebody was looked up %d times", refused.Code, refused.Header().Get("Retry-After"), g.asked-asked)
	}
	if g.ask("192.0.2.2", "").Code != http.StatusUnauthorized {
		t.Error("another address is refused, too")
	}
	g.now = g.now.Add(time.Second)
	if n := g.drain("192.0.2.1"); n != 2 {
		t.Errorf("a second later %d are answered", n)
	}
	if g.refused != 3 {
		t.Errorf("%d were counted as refused", g.refused)
	}
}

// A company has one address: who guesses keys there shuts nobody out who is signed in.
func TestWhoeverIsSignedInIsLetThroughWhateverElseComesFromTheirAddress(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	if g.ask("192.0.2.1", "right").Code != http.StatusOK {
		t.Fatal("the right key is refused")
	}
	g.drain("192.0.2.1")
	for range 50 {
		if code := g.ask("192.0.2.1", "right").Code; code != http.StatusOK {
			t.Fatalf("the right key is answered %d", code)
		}
	}
	if g.ask("192.0.2.1", "right", "Cookie", "a=b").Code != http.StatusTooManyRequests {
		t.Error("what was never identified counts as known")
	}
	g.now = g.now.Add(11 * time.Minute) // it is forgotten, and the address may ask again
	g.drain("192.0.2.1")
	if g.ask("192.0.2.1", "right").Code != http.StatusTooManyRequests {
		t.Error("a key is known for ever")
	}
}

func TestAnIPv6NetworkIsOneAddress(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	g.drain("2001:db8:1:2::1")
	if g.ask("2001:db8:1:2:ffff::9", "").Code != http.StatusTooManyRequests {
		t.Error("another address of the same network may ask")
	}
	if g.ask("2001:db8:1:3::1", "").Code != http.StatusUnauthorized {
		t.Error("another network is refused, too")
	}
}

func TestBehindATrustedProxyTheAddressIsWhatItSays(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t, netip.MustParsePrefix("10.0.0.0/8"))
	g.drain("10.0.0.1", "X-Forwarded-For", "192.0.2.1")
	if g.ask("10.0.0.1", "", "X-Forwarded-For", "192.0.2.2").Code != http.StatusUnauthorized {
		t.Error("another address behind the proxy is refused, too")
	}
	if g.ask("10.0.0.1", "", "X-Forwarded-For", "192.0.2.1").Code != http.StatusTooManyRequests {
		t.Error("the address may ask")
	}
	g.drain("198.51.100.7", "X-Forwarded-For", "192.0.2.9") // nobody believes it
	if g.ask("198.51.100.7", "", "X-Forwarded-For", "192.0.2.10").Code != http.StatusTooManyRequests {
		t.Error("whoever is no proxy chooses its address")
	}
}

func TestWithoutALimitThereIsNone(t *testing.T) {
	t.Parallel()
	if middleware.NewStrangers(0, nil, nil, nil) != nil {
		t.Error("there is one")
	}
	var none *middleware.Strangers
	h := http.NotFoundHandler()
	if got := none.Guard(h); got == nil {
		t.Error("nothing is served")
	}
}

// TestWhoProvesThemselvesCountsForNothingAgainstTheirAddress has programs renew their tokens from one address, more often than strangers may ask.
func TestWhoProvesThemselvesCountsForNothingAgainstTheirAddress(t *testing.T) {
	t.Parallel()
	now := time.Now()
	refuse := func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusTooManyRequests) }
	var h http.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/good" {
			middleware.Welcome(r.Context())
		}
	})
	strangers := middleware.NewStrangers(2, refuse, func() {}, func() time.Time { return now })
	for _, around := range []middleware.Middleware{strangers.Guard, middleware.Log(slog.New(slog.DiscardHandler)), middleware.ClientAddress(nil)} {
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
