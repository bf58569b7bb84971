package tracing

import (
	"net/http"
	"strconv"
	"strings"
)

// quiet are the addresses that tell nothing: who asks whether we are there, and files.
var quiet = []string{"/healthz", "/readyz", "/static/"}

// Requests begins the span of a request at one of our doors, for [telemetry.Metrics.Trace]; end is told what was answered. The trace of a
// program is gone on with, that of a browser is not: whoever made the page that it comes from may have made that up.
func (t *Tracer) Requests(of func(*http.Request) (program bool)) func(*http.Request) (*http.Request, func(method, route string, status int, answer http.Header)) {
	if t == nil {
		return nil
	}
	return func(r *http.Request) (*http.Request, func(string, string, int, http.Header)) {
		for _, prefix := range quiet {
			if strings.HasPrefix(r.URL.Path, prefix) {
				return r, func(string, string, int, http.Header) {}
			}
		}
		ctx := r.Context()
		if of(r) {
			ctx = FromHeader(ctx, r.Header)
		}
		ctx, span := t.Begin(ctx, "HTTP", Server)
		return r.WithContext(ctx), func(method, route string, status int, answer http.Header) {
			defer span.End()
			if !span.On() {
				return
			}
			if status == 0 {
				status = http.StatusOK
			}
			span.Name(method + " " + route)
			span.Text(Method, method)
			span.Text(Route, route)
			span.Number(Status, status)
			if ids := answer["X-Request-Id"]; len(ids) == 1 {
				span.Text(Request, ids[0])
			}
			if status >= http.StatusInternalServerError {
				span.Fail(strconv.Itoa(status))
			}
		}
	}
}
