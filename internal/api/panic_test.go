package api_test

import (
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/api"
	"patchbay/internal/connectors"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/safe"
)

// TestRoute_PanicIsAProblemForItsCallerAlone has a route panic for the caller at its limit.
func TestRoute_PanicIsAProblemForItsCallerAlone(t *testing.T) {
	var panics atomic.Bool
	panics.Store(true)
	now := time.Now()
	w := newWorld(t, func(o *api.Options) {
		o.Rates, o.Now = api.Rates{PerCaller: 1}, func() time.Time { return now }
		o.Throttled = func(string) {
			if panics.Load() {
				panic("a secret")
			}
		}
	})
	log := slog.New(slog.DiscardHandler)
	w.handler = middleware.Recover(log, respond.New(log, w.auth.Sessions()).Problem)(w.handler)
	key, other := w.createKey(t, connectors.RoleOwner), w.createKeyIn(t, w.Other, connectors.RoleOwner)
	before := safe.Count(safe.Handler)
	for range 3 {
		_, r := w.callUntilRefused(t, key, 100) // the limit is reached within
		if r.problem(http.StatusInternalServerError, "internal"); strings.Contains(string(r.body), "a secret") {
			t.Errorf("body = %s", r.body)
		}
	}
	w.call(t, other, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)
	panics.Store(false)
	w.call(t, key, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusTooManyRequests)
	if n := safe.Count(safe.Handler) - before; n < 3 {
		t.Errorf("%d panics are counted", n)
	}
}
