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

// pace is a clock that a test moves, and whose limits were met.
type pace struct {
	now time.Time
	met map[string]int
}

// paced is a world with limits, and its clock.
func paced(t *testing.T, rates api.Rates) (*world, *pace) {
	t.Helper()
	p := &pace{now: time.Now(), met: map[string]int{}}
	return newWorld(t, func(o *api.Options) {
		o.Rates, o.Now, o.Throttled = rates, func() time.Time { return p.now }, func(whose string) { p.met[whose]++ }
	}), p
}

// asks makes requests until one is refused, and tells how many were answered before; -1: all of them were.
func (w *world) asks(t *testing.T, key string, most int) (answered int, last reply) {
	t.Helper()
	for i := range most {
		if last = w.call(t, key, http.MethodGet, "/api/v1/connectors", nil); last.status != http.StatusOK {
			return i, last
		}
	}
	return -1, last
}

// tooSoon checks the refusal, and tells when to come again.
func (r reply) tooSoon(says string) time.Duration {
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

func TestAnAPIKeyThatAsksTooOftenIsToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	w, clock := paced(t, api.Rates{PerCaller: 2})
	hasty, calm := w.key(t, connectors.RoleViewer), w.key(t, connectors.RoleViewer)
	n, refused := w.asks(t, hasty, 20)
	wait := refused.tooSoon("2 requests a second")
	if n != 8 {
		t.Errorf("%d are answered at once, and four seconds' worth are 8", n)
	}
	if status := w.call(t, calm, http.MethodGet, "/api/v1/connectors", nil).status; status != http.StatusOK {
		t.Errorf("another key is answered %d", status)
	}
	w.call(t, hasty, http.MethodPost, "/connectors/nothing/sync_tools", nil).tooSoon("2 requests a second")

	clock.now = clock.now.Add(wait)
	if n, _ := w.asks(t, hasty, 20); n != 2*int(wait.Seconds()) {
		t.Errorf("%s later %d are answered", wait, n)
	}
	if clock.met["caller"] != 3 || clock.met["tenant"] != 0 {
		t.Errorf("counted: %v", clock.met)
	}
}

func TestATenantsKeysShareItsLimit(t *testing.T) {
	t.Parallel()
	w, clock := paced(t, api.Rates{PerCaller: 2, PerTenant: 3})
	first, second, other := w.key(t, connectors.RoleViewer), w.key(t, connectors.RoleViewer), w.keyIn(t, w.Other, connectors.RoleViewer)
	if n, _ := w.asks(t, first, 20); n != 8 {
		t.Errorf("the first key is answered %d times", n)
	}
	n, refused := w.asks(t, second, 20)
	refused.tooSoon("3 requests a second")
	if n != 4 { // 12 of the tenant less the 8 that were answered: what was refused counts for nobody
		t.Errorf("the second key is answered %d times", n)
	}
	if n, _ := w.asks(t, other, 8); n != -1 {
		t.Errorf("another tenant is refused after %d", n)
	}
	if clock.met["caller"] != 1 || clock.met["tenant"] != 1 {
		t.Errorf("counted: %v", clock.met)
	}
}

func TestALimitOfNothingIsNone(t *testing.T) {
	t.Parallel()
	w, _ := paced(t, api.Rates{})
	if n, last := w.asks(t, w.key(t, connectors.RoleViewer), 500); n != -1 {
		t.Errorf("refused after %d: %s", n, last.body)
	}
}
