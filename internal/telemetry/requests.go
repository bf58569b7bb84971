package telemetry

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// methods are the ones that have a label of their own: a client may invent others without end.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// Requests is a middleware that counts and times every request by its route pattern. It stands on the outermost chi
// router; what no route matched is counted as "unmatched".
func (m *Metrics) Requests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		wrapped := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		m.inFlight.Inc()
		r, end := m.begin(r)
		// Deferred, so that a handler that panics past us is counted too.
		defer func() {
			m.inFlight.Dec()
			route := routeOf(r)
			status := FinalStatus(r, wrapped.Status())
			m.requests.WithLabelValues(methodOf(r), route, statusClass(status)).Inc()
			if end != nil {
				end(methodOf(r), route, status, wrapped.Header())
			}
			if !strings.HasPrefix(wrapped.Header().Get("Content-Type"), "text/event-stream") {
				m.durations.WithLabelValues(route).Observe(time.Since(started).Seconds())
			}
		}()
		next.ServeHTTP(wrapped, r)
	})
}

// BeginTrace begins the span of a request. end is told the method, the route's pattern, the status, 0 for none set, and the answer's head.
type BeginTrace = func(*http.Request) (traced *http.Request, end func(method, route string, status int, answer http.Header))

// Trace has begin told of every request; nil: nobody is. It is to be called before the first one.
func (m *Metrics) Trace(begin BeginTrace) { m.traces = begin }

func (m *Metrics) begin(r *http.Request) (*http.Request, func(string, string, int, http.Header)) {
	if m.traces == nil {
		return r, nil
	}
	return m.traces(r)
}

func methodOf(r *http.Request) string {
	if slices.Contains(methods, r.Method) {
		return r.Method
	}
	return "OTHER"
}

// routeOf reads the pattern after routing: chi fills its context while the request goes down.
func routeOf(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil {
		if pattern := c.RoutePattern(); pattern != "" && pattern != "/*" {
			return pattern
		}
	}
	return "unmatched"
}

// StatusClientGone is the status in logs and metrics of a request without a response because the client went. No client reads it.
const StatusClientGone = 499

// FinalStatus is the status of a request in logs and metrics. A failure after the client went is [StatusClientGone]: the
// cancelled context caused it. status 0: none was set.
func FinalStatus(r *http.Request, status int) int {
	isFailure := status == 0 || status >= http.StatusInternalServerError
	if isFailure && errors.Is(r.Context().Err(), context.Canceled) {
		return StatusClientGone
	}
	return status
}

// statusClass turns 404 into "4xx". A handler that wrote nothing has answered 200.
func statusClass(status int) string {
	if status == 0 || status/100 == http.StatusOK/100 {
		return "2xx"
	}
	return strconv.Itoa(status/100) + "xx"
}

// RequestThrottled counts a request that was refused since it came too soon. whose is "caller" or "tenant", of the JSON API, "address", or
// "agent", at the gateway.
func (m *Metrics) RequestThrottled(whose string) { m.throttled.WithLabelValues(whose).Inc() }
