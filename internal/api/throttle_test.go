package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"patchbay/internal/api"
	"patchbay/internal/connectors"
)

// limitClock is a test's clock, and counts exceeded limits.
type limitClock struct {
	now time.Time
	met map[string]int
}

// newLimitedWorld is a world with limits, and its clock.
func newLimitedWorld(t *testing.T, rates api.Rates) (*world, *limitClock) {
	t.Helper()
	p := &limitClock{now: time.Now(), met: map[string]int{}}
	return newWorld(t, func(o *api.Options) {
		o.Rates, o.Now, o.Throttled = rates, func() time.Time { return p.now }, func(whose string) { p.met[whose]++ }
	}), p
}

// callUntilRefused sends requests until one is refused, and counts those before; -1: none was.
func (w *world) callUntilRefused(t *testing.T, key string, most int) (answered int, last reply) {
	t.Helper()
	for i := range most {
		if last = w.call(t, key, http.MethodGet, "/api/v1/connectors", nil); last.status != http.StatusOK {
			return i, last
		}
	}
	return -1, last
}

// wantTooSoon checks the refusal, and returns its Retry-After.
func (r reply) wantTooSoon(says string) time.Duration {
	r.t.Helper()
	problem := r.want(http.StatusTooManyRequests)
	if kind := r.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/problem+json") || !strings.Contains(fmt.Sprint(problem["detail"]), says) {
		r.t.Errorf("%s %v", kind, problem)
	}
	seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		r.t.Errorf("Retry-After is %q", r.header.Get("Retry-After"))
	}
	return time.Duration(seconds) * time.Second
}

func TestRateLimit_KeyGetsRetryAfter(t *testing.T) {
	t.Parallel()
	w, clock := newLimitedWorld(t, api.Rates{PerCaller: 2})
	hasty, calm := w.createKey(t, connectors.RoleViewer), w.createKey(t, connectors.RoleViewer)
	n, refused := w.callUntilRefused(t, hasty, 20)
	wait := refused.wantTooSoon("2 requests a second")
	if n != 8 {
		t.Errorf("%d are answered at once, and four seconds' worth are 8", n)
	}
	if status := w.call(t, calm, http.MethodGet, "/api/v1/connectors", nil).status; status != http.StatusOK {
		t.Errorf("another key is answered %d", status)
	}
	w.call(t, hasty, http.MethodPost, "/connectors/nothing/sync_tools", nil).wantTooSoon("2 requests a second")

	clock.now = clock.now.Add(wait)
	if n, _ := w.callUntilRefused(t, hasty, 20); n != 2*int(wait.Seconds()) {
		t.Errorf("%s later %d are answered", wait, n)
	}
	if clock.met["caller"] != 3 || clock.met["tenant"] != 0 {
		t.Errorf("counted: %v", clock.met)
	}
}

func TestATenantsKeysShareItsLimit(t *testing.T) {
	t.Parallel()
	w, clock := newLimitedWorld(t, api.Rates{PerCaller: 2, PerTenant: 3})
	first, second, other := w.createKey(t, connectors.RoleViewer), w.createKey(t, connectors.RoleViewer), w.createKeyIn(t, w.Other, connectors.RoleViewer)
	if n, _ := w.callUntilRefused(t, first, 20); n != 8 {
		t.Errorf("the first key is answered %d times", n)
	}
	n, refused := w.callUntilRefused(t, second, 20)
	refused.wantTooSoon("3 requests a second")
	if n != 4 { // 12 of the tenant less the 8 that succeeded: refused ones consume nothing
		t.Errorf("the second key is answered %d times", n)
	}
	if n, _ := w.callUntilRefused(t, other, 8); n != -1 {
		t.Errorf("another tenant is refused after %d", n)
	}
	if clock.met["caller"] != 1 || clock.met["tenant"] != 1 {
		t.Errorf("counted: %v", clock.met)
	}
}

func TestALimitOfNothingIsNone(t *testing.T) {
	t.Parallel()
	w, _ := newLimitedWorld(t, api.Rates{})
	if n, last := w.callUntilRefused(t, w.createKey(t, connectors.RoleViewer), 500); n != -1 {
		t.Errorf("refused after %d: %s", n, last.body)
	}
}
