package safehttp

import (
	"net/http"
	"strconv"

	"patchbay/internal/tracing"
)

// traced sends a request, as a part of the trace that it belongs to. The span ends when the answer's head is there. Of the address it has
// host and port: path and query may hold a key. The request itself says nothing of the trace: whom it is told, their callers decide.
func (t *roundTripper) traced(tenant string, r *http.Request) (*http.Response, error) {
	ctx, span := tracing.Client(r.Context(), r.Method)
	if !span.On() {
		return t.next.RoundTripIn(tenant, r)
	}
	defer span.End()
	span.Text(tracing.Method, r.Method)
	span.Text(tracing.Scheme, r.URL.Scheme)
	span.Text(tracing.Address, r.URL.Hostname())
	if port, ok := portOf(r.URL); ok {
		span.Number(tracing.Port, int(port))
	}
	resp, err := t.next.RoundTripIn(tenant, r.WithContext(ctx))
	if err != nil {
		span.Fail("no answer")
		return nil, err
	}
	span.Number(tracing.Status, resp.StatusCode)
	if resp.StatusCode >= http.StatusBadRequest {
		span.Fail(strconv.Itoa(resp.StatusCode))
	}
	return resp, nil
}
