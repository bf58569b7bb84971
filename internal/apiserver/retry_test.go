package apiserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"patchbay/internal/apiserver"
	"patchbay/internal/mcp"
)

func TestRetries_OfIdempotentMethodsOnly(t *testing.T) {
	t.Parallel()
	soon := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
	for name, tc := range map[string]struct {
		tool, arguments string
		status          int
		header          []string
		pauses          []time.Duration
		retryAfter      time.Duration // of the error; -1: the call succeeds
	}{
		"overload":           {"getNote", `{"id":"1"}`, 503, nil, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}, -1},
		"Retry-After":        {"getNote", `{"id":"1"}`, 429, []string{"Retry-After", "2"}, []time.Duration{2 * time.Second, 2 * time.Second}, -1},
		"RateLimit":          {"getNote", `{"id":"1"}`, 429, []string{"RateLimit-Remaining", "0", "RateLimit-Reset", "1"}, []time.Duration{time.Second, time.Second}, -1},
		"RateLimit field":    {"getNote", `{"id":"1"}`, 429, []string{"RateLimit", `"default";r=0;t=3`}, []time.Duration{3 * time.Second, 3 * time.Second}, -1},
		"RateLimit is left":  {"getNote", `{"id":"1"}`, 403, []string{"RateLimit", `"default";r=7;t=3`}, nil, -1},
		"a limit as GitHub":  {"getNote", `{"id":"1"}`, 403, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1"}, []time.Duration{time.Second, time.Second}, -1},
		"after the deadline": {"getNote", `{"id":"1"}`, 429, []string{"Retry-After", "60"}, nil, time.Minute},
		"reset too late":     {"getNote", `{"id":"1"}`, 429, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", soon}, nil, time.Hour},
		"POST":               {"addNote", `{"text":"a"}`, 503, []string{"Retry-After", "1"}, nil, time.Second},
	} {
		requests := 0
		var pauses []time.Duration
		session, bindings := openSession(t, func(w http.ResponseWriter, _ *http.Request) {
			if requests++; requests > 2 {
				return
			}
			for i := 0; i < len(tc.header); i += 2 {
				w.Header().Set(tc.header[i], tc.header[i+1])
			}
			w.WriteHeader(tc.status)
		}, func(s *apiserver.Server) {
			s.Retries = apiserver.Retries{Max: 3, Backoff: 100 * time.Millisecond, Wait: func(_ context.Context, d time.Duration) error {
				pauses = append(pauses, d)
				return nil
			}}
		})
		_, err := session.Call(t.Context(), mcp.Call{Name: tc.tool, Arguments: json.RawMessage(tc.arguments), Meta: bindings[tc.tool]})
		failure, _ := err.(*mcp.Error)
		switch {
		case !slices.Equal(pauses, tc.pauses) || requests != len(tc.pauses)+1:
			t.Errorf("%s: %d requests, waits %v", name, requests, pauses)
		case (failure == nil) != (tc.retryAfter < 0):
			t.Errorf("%s: %v", name, err)
		case failure != nil && (failure.HTTPStatus != tc.status || failure.RetryAfter < tc.retryAfter-time.Minute || failure.RetryAfter > tc.retryAfter):
			t.Errorf("%s: %+v", name, failure)
		}
	}
}

func TestRetries_End(t *testing.T) {
	t.Parallel()
	requests := 0
	session, bindings := openSession(t, func(w http.ResponseWriter, _ *http.Request) {
		requests++
		http.Error(w, strings.Repeat("busy ", 10_000), http.StatusBadGateway)
	}, func(s *apiserver.Server) { s.Retries = apiserver.Retries{Max: 2, Backoff: time.Microsecond} })
	_, err := session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: bindings["getNote"]})
	if failure, _ := err.(*mcp.Error); failure == nil || failure.HTTPStatus != 502 || requests != 3 || len(remoteText(err)) > 8<<10 {
		t.Errorf("%d requests, %v", requests, err)
	}
}
